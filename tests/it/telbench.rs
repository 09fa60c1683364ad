//! `auditor data telbench` against a release of our own making: two invented runs, encrypted with
//! `openssl enc -aes-256-cbc -pbkdf2 -iter 200000 -md sha256 -salt` (OpenSSL 3.0), in `telbench/`.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};

use crate::localize::auditor;
use crate::stub::{Act, Answer, Seen, Stub};

const SEALED: &str = "TELBench.jsonl.enc";
const PASSPHRASE: &str = "TELBench.passphrase.txt";
const FILES: [&str; 4] = [SEALED, "TELBench.jsonl.enc.sha256", "TELBench.jsonl.sha256", PASSPHRASE];

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/it/telbench")
            .join(name),
    )
    .unwrap()
}

/// A folder with these files of the release.
fn folder(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let release = dir.path().join("release");
    std::fs::create_dir(&release).unwrap();
    for name in names {
        std::fs::write(release.join(name), fixture(name)).unwrap();
    }
    (dir, release)
}

async fn telbench(dir: &Path, from: &str) -> (Option<i32>, String, Output) {
    let output = auditor(dir, &["data", "telbench", "--dir", "release", "--from", from]).await;
    (
        output.status.code(),
        String::from_utf8(output.stderr.clone()).unwrap(),
        output,
    )
}

/// True when the encrypted file came whole and was checked. With an empty passphrase the command ends there,
/// which spares these tests the key derivation: slow by design, and slower unoptimised.
fn fetched(release: &Path, code: Option<i32>, stderr: &str) -> bool {
    code == Some(2) && stderr.contains("is empty") && std::fs::read(release.join(SEALED)).unwrap() == fixture(SEALED)
}

fn empty_passphrase(release: &Path) {
    std::fs::write(release.join(PASSPHRASE), "\n").unwrap();
}

/// Nobody listens there.
const NOWHERE: &str = "http://127.0.0.1:9/";

fn is_whole(release: &Path) -> bool {
    let text = std::fs::read_to_string(release.join("TELBench.jsonl")).unwrap_or_default();
    text.lines().count() == 2 && text.starts_with("{\"id\": \"0001\"") && text.ends_with("\"hard\"}}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_there_are_checked_and_decrypted_without_a_network() {
    let (dir, release) = folder(&FILES);
    let (code, stderr, output) = telbench(dir.path(), NOWHERE).await;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(is_whole(&release) && stderr.contains("2 runs"), "{stderr}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "release/TELBench.jsonl\n");
    // Once there, only its own checksum is needed.
    std::fs::remove_file(release.join(SEALED)).unwrap();
    let (code, stderr, _) = telbench(dir.path(), NOWHERE).await;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("is there already"), "{stderr}");
    let listed = auditor(
        dir.path(),
        &[
            "bench",
            "--data",
            "release/TELBench.jsonl",
            "--difficulty",
            "easy",
            "--resamples",
            "10",
        ],
    )
    .await;
    assert_eq!(
        listed.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_passphrase_is_said_even_when_the_padding_looks_right() {
    // The second opens the last block by chance: one in 256 does.
    for wrong in ["wrong", "wrong 13"] {
        let (dir, release) = folder(&FILES);
        std::fs::write(release.join(PASSPHRASE), wrong).unwrap();
        let (code, stderr, _) = telbench(dir.path(), NOWHERE).await;
        assert_eq!(code, Some(2));
        assert!(
            stderr.contains("does not open") && stderr.contains(PASSPHRASE) && !stderr.contains(wrong),
            "{stderr}"
        );
        assert!(!release.join("TELBench.jsonl").exists());
    }
    let (dir, release) = folder(&FILES);
    std::fs::write(
        release.join(PASSPHRASE),
        "\u{feff}a made-up passphrase\r\nand a second line",
    )
    .unwrap();
    let (code, stderr, _) = telbench(dir.path(), NOWHERE).await;
    assert_eq!(code, Some(0), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_and_changed_files_are_told_apart_and_nothing_is_written() {
    type Change = fn(&Path);
    let changes: [(Change, &[&str]); 5] = [
        (
            |release| std::fs::write(release.join(SEALED), &fixture(SEALED)[..100]).unwrap(),
            &[SEALED, "100 bytes", "cut short"],
        ),
        (
            |release| {
                let mut bytes = fixture(SEALED);
                bytes[60] ^= 1;
                std::fs::write(release.join(SEALED), bytes).unwrap();
            },
            &[SEALED, "the checksum", "delete it"],
        ),
        (
            |release| {
                let sum = "0".repeat(64);
                std::fs::write(
                    release.join("TELBench.jsonl.sha256"),
                    format!("{sum}  TELBench.jsonl\n"),
                )
                .unwrap();
            },
            &["TELBench.jsonl.sha256", "another checksum"],
        ),
        (
            |release| std::fs::write(release.join("TELBench.jsonl.enc.sha256"), "<html>").unwrap(),
            &["TELBench.jsonl.enc.sha256", "no SHA-256"],
        ),
        (
            |release| std::fs::write(release.join(PASSPHRASE), "\n").unwrap(),
            &[PASSPHRASE, "empty"],
        ),
    ];
    for (change, words) in changes {
        let (dir, release) = folder(&FILES);
        change(&release);
        let (code, stderr, _) = telbench(dir.path(), NOWHERE).await;
        assert_eq!(code, Some(2), "{stderr}");
        assert!(words.iter().all(|word| stderr.contains(word)), "{words:?} in {stderr}");
        assert!(!release.join("TELBench.jsonl").exists());
    }
}

fn file_of(seen: &Seen) -> Vec<u8> {
    fixture(seen.path.rsplit('/').next().unwrap())
}

/// Serves a file, from where it is asked to.
fn ranged(seen: &Seen) -> Act {
    let bytes = file_of(seen);
    let Some(first) = seen
        .header("range")
        .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok())
    else {
        return Act::Answer(Answer::new(200, bytes));
    };
    let total = bytes.len();
    if first >= total {
        return Act::Answer(Answer::new(416, "").header("content-range", &format!("bytes */{total}")));
    }
    let range = format!("bytes {first}-{}/{total}", total - 1);
    Act::Answer(Answer::new(206, &bytes[first..]).header("content-range", &range))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_breaks_off_is_gone_on_with() {
    let cut = Arc::new(Mutex::new(true));
    let stub = Stub::start(move |_, seen| {
        if seen.path.ends_with(".enc") && std::mem::take(&mut *cut.lock().unwrap()) {
            return Act::CutAt(200, Answer::new(200, file_of(seen)));
        }
        ranged(seen)
    })
    .await;
    let (dir, release) = folder(&[]);
    let (code, stderr, _) = telbench(dir.path(), &format!("{}/resolve/main", stub.base)).await;
    assert_eq!(code, Some(0), "{stderr}");
    assert!(is_whole(&release));
    let ranges: Vec<_> = stub
        .seen()
        .iter()
        .filter(|seen| seen.path == format!("/resolve/main/{SEALED}"))
        .map(|seen| seen.header("range").map(str::to_owned))
        .collect();
    assert_eq!(ranges.len(), 2);
    let range = ranges[1].clone().unwrap_or_else(|| panic!("{ranges:?}"));
    assert!(range.starts_with("bytes=") && range.ends_with('-'), "{range}");
    assert!(!release.join(format!("{SEALED}.part")).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_command_left_is_gone_on_with_or_begun_anew() {
    let whole = fixture(SEALED);
    let lies: [(&[u8], usize); 3] = [
        // A part of it, all of it, and more than there is: from the stated byte, not at all, from the start.
        (&whole[..150], 1),
        (&whole, 1),
        (&[0; 5000], 2),
    ];
    for (left, requests) in lies {
        let stub = Stub::start(|_, seen| ranged(seen)).await;
        let (dir, release) = folder(&FILES[1..]);
        std::fs::write(release.join(format!("{SEALED}.part")), left).unwrap();
        empty_passphrase(&release);
        let (code, stderr, _) = telbench(dir.path(), &stub.base).await;
        assert_eq!(stub.count(), requests, "{stderr}");
        assert!(fetched(&release, code, &stderr), "{stderr}");
    }
    // A server that knows no ranges sends all of it, and all of it is taken.
    let stub = Stub::start(|_, seen| Act::Answer(Answer::new(200, file_of(seen)))).await;
    let (dir, release) = folder(&FILES[1..]);
    std::fs::write(release.join(format!("{SEALED}.part")), &whole[..150]).unwrap();
    empty_passphrase(&release);
    let (code, stderr, _) = telbench(dir.path(), &stub.base).await;
    assert_eq!(stub.count(), 1, "{stderr}");
    assert!(fetched(&release, code, &stderr), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_says_is_passed_on() {
    let stub = Stub::start(|_, _| Act::Answer(Answer::new(404, "no"))).await;
    let (dir, _release) = folder(&[]);
    let (code, stderr, _) = telbench(dir.path(), &stub.base).await;
    assert_eq!((code, stub.count()), (Some(2), 1));
    assert!(
        stderr.contains("404") && stderr.contains("TELBench.jsonl.enc.sha256") && stderr.contains("put in release"),
        "{stderr}"
    );
    let (code, stderr, _) = telbench(dir.path(), "ftp://host.example/").await;
    assert!(code == Some(2) && stderr.contains("http"), "{stderr}");
    // A redirect to where the files really lie is followed.
    let store = Stub::start(|_, seen| ranged(seen)).await;
    let target = store.base.clone();
    let front = Stub::start(move |_, seen| {
        Act::Answer(Answer::new(302, "").header("location", &format!("{target}/store{}", seen.path)))
    })
    .await;
    let (dir, release) = folder(&[]);
    empty_passphrase(&release);
    let (code, stderr, _) = telbench(dir.path(), &front.base).await;
    assert!(store.count() == 3 && fetched(&release, code, &stderr), "{stderr}");
}

/// With the `openssl` of this machine, when it has one: the other direction of the fixture.
#[tokio::test(flavor = "multi_thread")]
async fn what_openssl_encrypts_now_is_read() {
    let (dir, release) = folder(&[]);
    let text = "{\"id\": \"0001\", \"question\": \"q\", \"spans\": []}\n".repeat(700);
    std::fs::write(release.join("plain"), &text).unwrap();
    std::fs::write(release.join(PASSPHRASE), "päss: word\n").unwrap();
    let passphrase = format!("file:{}", release.join(PASSPHRASE).display());
    let arguments = [
        "enc",
        "-aes-256-cbc",
        "-pbkdf2",
        "-iter",
        "200000",
        "-md",
        "sha256",
        "-salt",
        "-in",
        "plain",
        "-out",
        SEALED,
        "-pass",
        &passphrase,
    ];
    let made = std::process::Command::new("openssl")
        .args(arguments)
        .current_dir(&release)
        .output();
    let Ok(made) = made else {
        println!("no openssl on this machine; the fixture is checked alone");
        return;
    };
    assert!(made.status.success(), "{made:?}");
    let sum = |bytes: &[u8]| auditor::store::sealed::sha256(bytes);
    std::fs::write(release.join("TELBench.jsonl.sha256"), sum(text.as_bytes())).unwrap();
    std::fs::write(
        release.join("TELBench.jsonl.enc.sha256"),
        format!("{} *{SEALED}\n", sum(&std::fs::read(release.join(SEALED)).unwrap())),
    )
    .unwrap();
    let (code, stderr, _) = telbench(dir.path(), NOWHERE).await;
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(std::fs::read_to_string(release.join("TELBench.jsonl")).unwrap(), text);
}
