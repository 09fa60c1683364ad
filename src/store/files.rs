//! Reading inputs and writing whole files: a reader never sees half a file of ours.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// A file that could not be read or written, named.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What the disk said.
    pub source: std::io::Error,
}

pub(super) fn named(path: &Path) -> impl FnOnce(std::io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError { path, source }
}

/// Opens a file for reading, or standard input for `-`.
///
/// # Errors
/// When the file cannot be opened, or is a directory.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, FileError> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, std::io::stdin())));
    }
    let file = File::open(path).map_err(named(path))?;
    if file.metadata().map_err(named(path))?.is_dir() {
        return Err(named(path)(std::io::Error::other(
            "is a directory; name the files in it",
        )));
    }
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// Reads a whole text file.
///
/// # Errors
/// When it cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    std::fs::read_to_string(path).map_err(named(path))
}

/// Reads a whole file.
///
/// # Errors
/// When it cannot be read.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    std::fs::read(path).map_err(named(path))
}

/// Writes a file whole: to a temporary name beside it, then renamed.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(named(path))?;
    file.write_all(bytes).map_err(named(path))?;
    file.as_file().sync_all().map_err(named(path))?;
    file.persist(path).map_err(|error| named(path)(error.error))?;
    Ok(())
}

/// Makes a folder and those above it.
///
/// # Errors
/// When it cannot be made.
pub fn make_dir(path: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(path).map_err(named(path))
}

/// The texts of all files directly in a folder, by file name, hidden ones left out.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn texts_in(folder: &Path) -> Result<std::collections::BTreeMap<String, String>, FileError> {
    let mut texts = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(named(folder))? {
        let path = entry.map_err(named(folder))?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        if path.is_file() && !name.starts_with('.') {
            texts.insert(name, read_text(&path)?);
        }
    }
    Ok(texts)
}
