//! Lines that come in any order and are wanted in one: kept on disk, so that memory holds a few bytes a line.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::files::{FileError, named};

/// Lines with keys, in a file that has no name and so never stays behind.
#[derive(Debug)]
pub struct Spool<K> {
    folder: PathBuf,
    file: BufWriter<File>,
    /// Key, first byte, bytes of each line.
    lines: Vec<(K, u64, usize)>,
    end: u64,
}

impl<K: Ord> Spool<K> {
    /// An empty spool on the disk of `folder`.
    ///
    /// # Errors
    /// When no file can be made there.
    pub fn new(folder: &Path) -> Result<Self, FileError> {
        let file = tempfile::tempfile_in(folder).map_err(named(folder))?;
        Ok(Self {
            folder: folder.to_owned(),
            file: BufWriter::new(file),
            lines: Vec::new(),
            end: 0,
        })
    }

    /// Takes a line, without its line break.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn push(&mut self, key: K, line: &str) -> Result<(), FileError> {
        self.file.write_all(line.as_bytes()).map_err(named(&self.folder))?;
        let bytes = line.len();
        self.lines.push((key, self.end, bytes));
        self.end += bytes as u64;
        Ok(())
    }

    /// True when no line was taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Writes all lines in the order of their keys to `path`, whole or not at all: `open`, the lines with
    /// `between` them, `close`.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn write(mut self, path: &Path, [open, between, close]: [&str; 3]) -> Result<(), FileError> {
        let at = named(&self.folder);
        self.lines.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut from = self.file.into_inner().map_err(|error| error.into_error()).map_err(at)?;
        let to = tempfile::NamedTempFile::new_in(&self.folder).map_err(named(path))?;
        let mut out = BufWriter::new(to);
        let mut line = Vec::new();
        out.write_all(open.as_bytes()).map_err(named(path))?;
        for (number, (_, begin, bytes)) in self.lines.into_iter().enumerate() {
            if number > 0 {
                out.write_all(between.as_bytes()).map_err(named(path))?;
            }
            line.resize(bytes, 0);
            from.seek(SeekFrom::Start(begin)).map_err(named(path))?;
            from.read_exact(&mut line).map_err(named(path))?;
            out.write_all(&line).map_err(named(path))?;
        }
        out.write_all(close.as_bytes()).map_err(named(path))?;
        let to = out
            .into_inner()
            .map_err(|error| error.into_error())
            .map_err(named(path))?;
        to.as_file().sync_all().map_err(named(path))?;
        to.persist(path).map_err(|error| named(path)(error.error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_in_the_order_of_their_keys() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.jsonl");
        let mut spool = Spool::new(dir.path()).unwrap();
        for (key, line) in [(3, "three"), (1, "eins\u{e9}"), (2, ""), (1, "one again")] {
            spool.push(key, line).unwrap();
        }
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            0,
            "nothing is left when it is killed now"
        );
        spool.write(&path, ["[", ",", "]\n"]).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "[eins\u{e9},one again,,three]\n"
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
