//! The cache: good replies by the request they answer, a file each, so that the same question to the
//! same model is paid for once.
//!
//! `DIR/ab/abcdef….json` holds one record. Files are written whole and renamed, so two processes may
//! share a folder; a file that cannot be read costs one entry and is said.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{FileError, make_dir, write_atomic};
use crate::wire::Usage;

/// Version of an entry's format; others are passed over.
const CACHE_VERSION: u32 = 1;

/// A good reply as kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedReply {
    version: u32,
    /// The reply's text, raw.
    pub text: String,
    /// What it took when it was asked for.
    pub usage: Usage,
}

/// A folder of good replies.
#[derive(Clone, Debug)]
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// Opens a folder, making it if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(dir: &Path) -> Result<Self, FileError> {
        make_dir(dir)?;
        Ok(Self { dir: dir.to_owned() })
    }

    fn path(&self, key: &str) -> PathBuf {
        let shard = key.get(..2).unwrap_or("__");
        self.dir.join(shard).join(format!("{key}.json"))
    }

    /// The reply kept under a key (hex digits); `None` when there is none that this version reads.
    ///
    /// # Errors
    /// When a file is there and the disk does not give it, or it is damaged.
    pub fn get(&self, key: &str) -> Result<Option<CachedReply>, FileError> {
        let path = self.path(key);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FileError { path, source }),
        };
        match serde_json::from_slice::<CachedReply>(&bytes) {
            Ok(reply) => Ok(Some(reply).filter(|reply| reply.version == CACHE_VERSION)),
            Err(error) => Err(FileError {
                path,
                source: error.into(),
            }),
        }
    }

    /// Keeps a reply.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn put(&self, key: &str, text: &str, usage: &Usage) -> Result<(), FileError> {
        let path = self.path(key);
        if let Some(folder) = path.parent() {
            make_dir(folder)?;
        }
        let reply = CachedReply {
            version: CACHE_VERSION,
            text: text.to_owned(),
            usage: usage.clone(),
        };
        let bytes = serde_json::to_vec(&reply).map_err(|error| FileError {
            path: path.clone(),
            source: error.into(),
        })?;
        write_atomic(&path, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_got_and_damage_costs_one_entry() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("c")).unwrap();
        assert_eq!(cache.get("ab12").unwrap(), None);
        cache.put("ab12", "text", &Usage::default()).unwrap();
        cache.put("ab34", "other", &Usage::default()).unwrap();
        assert_eq!(cache.get("ab12").unwrap().unwrap().text, "text");
        std::fs::write(dir.path().join("c/ab/ab12.json"), "{\"version\": 1, \"te").unwrap();
        let error = cache.get("ab12").unwrap_err().to_string();
        assert!(error.contains("ab12.json"), "{error}");
        assert_eq!(cache.get("ab34").unwrap().unwrap().text, "other");
        std::fs::write(dir.path().join("c/ab/ab34.json"), "{\"version\": 9, \"text\": \"\", \"usage\": {\"calls\":0,\"input_tokens\":0,\"cached_tokens\":0,\"output_tokens\":0,\"reasoning_tokens\":0,\"total_tokens\":0,\"cost_usd\":null,\"ms\":0}}").unwrap();
        assert_eq!(cache.get("ab34").unwrap(), None);
    }
}
