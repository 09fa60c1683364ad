//! Files as `openssl enc` encrypts them, and checksum files as `sha256sum` writes them.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockModeDecrypt, KeyIvInit};
use sha2::{Digest, Sha256};

/// How an `openssl enc` file with a salt begins.
const MAGIC: &[u8] = b"Salted__";
/// Bytes of the salt behind it.
const SALT: usize = 8;
/// Bytes of a cipher block.
const BLOCK: usize = 16;

/// Why a file cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Not such a file.
    #[error("it does not begin with \"Salted__\", so `openssl enc` did not write it")]
    Foreign,
    /// The end is missing.
    #[error("it is cut: {bytes} bytes of cipher text are no whole number of {BLOCK}-byte blocks")]
    Cut {
        /// Bytes behind the salt.
        bytes: usize,
    },
    /// The last block does not end as one that was encrypted with this passphrase.
    #[error("the passphrase does not open it")]
    Passphrase,
}

/// Decrypts what `openssl enc -aes-256-cbc -pbkdf2 -iter N` (digest SHA-256) wrote. A wrong passphrase goes
/// unnoticed here about once in 256 times, when the padding happens to look right: only a checksum of
/// the plain text settles it.
///
/// # Errors
/// A [`SealError`].
pub fn decrypt(data: &[u8], passphrase: &[u8], iterations: u32) -> Result<Vec<u8>, SealError> {
    let rest = data.strip_prefix(MAGIC).ok_or(SealError::Foreign)?;
    let cut = SealError::Cut {
        bytes: rest.len().saturating_sub(SALT),
    };
    let (salt, text) = rest.split_at_checked(SALT).ok_or(cut)?;
    if text.is_empty() || !text.len().is_multiple_of(BLOCK) {
        return Err(cut);
    }
    let mut derived = [0_u8; 48];
    pbkdf2::pbkdf2_hmac::<Sha256>(passphrase, salt, iterations, &mut derived);
    let (key, iv) = derived.split_at(32);
    // The lengths are those of the cipher, so only the padding can be wrong.
    cbc::Decryptor::<aes::Aes256>::new_from_slices(key, iv)
        .ok()
        .and_then(|cipher| cipher.decrypt_padded_vec::<Pkcs7>(text).ok())
        .ok_or(SealError::Passphrase)
}

/// SHA-256 in lower-case hex digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The checksum that a file in the form of `sha256sum` states for `name`: the line with that name (folders
/// before it do not matter), or the only line there is. In lower case.
#[must_use]
pub fn stated_sha256(text: &str, name: &str) -> Option<String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().filter_map(|line| {
        let (sum, file) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let sum = sum.trim_start_matches('\\');
        let whole = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        let file = file.trim().trim_start_matches('*');
        whole.then(|| {
            (
                sum.to_ascii_lowercase(),
                file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
            )
        })
    });
    let first = lines.next()?;
    let rest: Vec<_> = lines.collect();
    if rest.is_empty() {
        return Some(first.0);
    }
    std::iter::once(first)
        .chain(rest)
        .find(|(_, file)| file == name)
        .map(|(sum, _)| sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 'spans in order\n' | openssl enc -aes-256-cbc -pbkdf2 -iter 1000 -S 0102030405060708 -pass pass:key`,
    /// with the header that `openssl` leaves out where the salt is given.
    const SEALED: [u8; 32] = [
        0x53, 0x61, 0x6c, 0x74, 0x65, 0x64, 0x5f, 0x5f, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0xb8, 0x98,
        0xfc, 0x9f, 0xe1, 0x3b, 0x58, 0xf9, 0x0f, 0x6f, 0x0a, 0xa7, 0x33, 0xc2, 0x16, 0x51,
    ];

    #[test]
    fn what_openssl_wrote_is_opened() {
        assert_eq!(decrypt(&SEALED, b"key", 1000).unwrap(), b"spans in order\n");
    }

    #[test]
    fn what_cannot_be_opened_is_said() {
        assert_eq!(decrypt(&SEALED, b"kez", 1000), Err(SealError::Passphrase));
        assert_eq!(decrypt(&SEALED[..31], b"key", 1000), Err(SealError::Cut { bytes: 15 }));
        assert_eq!(decrypt(&SEALED[..16], b"key", 1000), Err(SealError::Cut { bytes: 0 }));
        assert_eq!(decrypt(b"Salted__123", b"key", 1000), Err(SealError::Cut { bytes: 0 }));
        assert_eq!(decrypt(b"{\"id\": 1}", b"key", 1000), Err(SealError::Foreign));
    }

    #[test]
    fn a_wrong_passphrase_passes_by_chance_now_and_then() {
        let passed = (0..2000)
            .filter(|n| decrypt(&SEALED, format!("wrong {n}").as_bytes(), 1).is_ok())
            .count();
        assert!((1..40).contains(&passed), "{passed}: a checksum has to decide");
    }

    #[test]
    fn checksum_files_are_read_in_all_their_spellings() {
        let sum = sha256(b"abc");
        assert_eq!(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let named = |text: &str| stated_sha256(text, "a.jsonl");
        for text in [
            format!("{sum}  a.jsonl\n"),
            format!("{sum} *out/a.jsonl\r\n"),
            sum.to_uppercase(),
            format!("{sum}  other"),
        ] {
            assert_eq!(named(&text), Some(sum.clone()), "{text}");
        }
        let other = sha256(b"x");
        assert_eq!(named(&format!("{other}  b.jsonl\n{sum}  ./a.jsonl\n")), Some(sum));
        assert_eq!(named(&format!("{other}  b.jsonl\n{other}  c.jsonl\n")), None);
        assert_eq!(named("<html>not found</html>"), None);
        assert_eq!(named(""), None);
    }
}
