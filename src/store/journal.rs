//! The journal: every answer of a run, a line each, so that nothing paid for is paid again.
//!
//! Append-only JSONL. The first line is a header with the format's version and a fingerprint of what
//! the answers depend on; then one line an answer and one closing line a case. Replies are kept raw
//! and parsed again at replay. A torn last line (a crash in the middle of a write) is cut off on
//! resume; a torn line anywhere else is refused, since then the file is not ours to repair.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::audit::{AskId, Cause};
use crate::trajectory::Warning;
use crate::wire::Usage;

/// Version of the journal's format.
pub const JOURNAL_VERSION: u32 = 1;

/// What the answers of a journal depend on: name → value, as shown to a user whose settings differ.
pub type Fingerprint = BTreeMap<String, String>;

/// What came of a question, as recorded. A reply is recorded as such whether or not it could be
/// read: reading is done again at replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Outcome {
    /// The endpoint gave a text.
    Reply,
    /// The text was cut at this many output tokens.
    Truncated {
        /// Output tokens allowed.
        limit: u32,
    },
    /// The request did not fit.
    Overflow {
        /// Window in tokens.
        limit: Option<u64>,
        /// Tokens needed.
        needed: Option<u64>,
    },
    /// The judge or its provider declined.
    Refused {
        /// Provider's code or words.
        code: String,
    },
    /// Nothing came.
    GaveUp {
        /// Why.
        cause: Cause,
    },
}

/// One answer as recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// Which question.
    pub ask: AskId,
    /// Hash of the rendered request.
    pub request_hash: String,
    /// What came of it.
    pub outcome: Outcome,
    /// The reply's text, raw.
    pub text: String,
    /// What it used.
    pub usage: Usage,
    /// What happened on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Warning>,
}

/// The end of one case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClosedCase {
    /// 0-based index of the run in the input.
    pub input: u64,
    /// The run's id.
    pub case_id: String,
    /// Method, judge slot and repeat tell audits of one run apart.
    pub method: crate::audit::Method,
    /// Judge slot.
    pub judge: u8,
    /// Repeat.
    pub repeat: u32,
    /// True when the audit ended with a verdict.
    pub ok: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Journal { version: u32, fingerprint: Fingerprint },
    Answer(Box<AnswerRecord>),
    Closed(ClosedCase),
}

/// Why a journal could not be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the disk said.
        source: std::io::Error,
    },
    /// Not a journal, or damaged where a crash cannot damage it.
    #[error("{}:{line}: {message}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// What is wrong and what to do.
        message: String,
    },
    /// Written by a later version.
    #[error("{} is a journal of version {found}; this auditor reads version {JOURNAL_VERSION}. Use a newer auditor, or record anew", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Version found.
        found: u32,
    },
    /// Made with other settings.
    #[error("{} was recorded with other settings: {differences}. Resume with the same ones, or record to a new file", path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// Names and both values.
        differences: String,
    },
    /// Another process writes to it.
    #[error("{} is in use by another auditor", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
}

/// What a journal held.
#[derive(Debug, Default)]
pub struct Recording {
    /// Header's fingerprint.
    pub fingerprint: Fingerprint,
    /// Answers by question; the last record of a question stands.
    pub answers: BTreeMap<AskId, AnswerRecord>,
    /// Cases that ended.
    pub closed: Vec<ClosedCase>,
    /// Bytes of a torn last line that were left out.
    pub torn_bytes: u64,
}

impl Recording {
    /// Reads a journal without changing it.
    ///
    /// # Errors
    /// When the file cannot be read, is no journal, is of another version, or is damaged before its last line.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(|source| JournalError::Io {
            path: path.to_owned(),
            source,
        })?;
        read_from(path, file).map(|(recording, _)| recording)
    }

    /// Reads a journal's fingerprint alone.
    ///
    /// # Errors
    /// When the file cannot be read or does not begin as a journal of this version.
    pub fn header(path: &Path) -> Result<Fingerprint, JournalError> {
        let io = |source| JournalError::Io {
            path: path.to_owned(),
            source,
        };
        let mut line = Vec::new();
        BufReader::new(File::open(path).map_err(io)?)
            .read_until(b'\n', &mut line)
            .map_err(io)?;
        match serde_json::from_slice::<Line>(&line) {
            Ok(Line::Journal {
                version: JOURNAL_VERSION,
                fingerprint,
            }) => Ok(fingerprint),
            Ok(Line::Journal { version, .. }) => Err(JournalError::Version {
                path: path.to_owned(),
                found: version,
            }),
            _ => Err(JournalError::Damaged {
                path: path.to_owned(),
                line: 1,
                message: "no journal header; is this a journal?".to_owned(),
            }),
        }
    }
}

/// Reads all whole lines; returns the length of the file up to the end of the last of them.
fn read_from(path: &Path, file: File) -> Result<(Recording, u64), JournalError> {
    let io = |source| JournalError::Io {
        path: path.to_owned(),
        source,
    };
    let damaged = |line, message: String| JournalError::Damaged {
        path: path.to_owned(),
        line,
        message,
    };
    let mut reader = BufReader::new(file);
    let mut recording = Recording::default();
    let (mut whole, mut number) = (0_u64, 0_usize);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes).map_err(io)?;
        if read == 0 {
            return Ok((recording, whole));
        }
        number += 1;
        let parsed = serde_json::from_slice::<Line>(&bytes);
        match parsed {
            Ok(Line::Journal { version, .. }) if version != JOURNAL_VERSION => {
                return Err(JournalError::Version {
                    path: path.to_owned(),
                    found: version,
                });
            }
            Ok(Line::Journal { fingerprint, .. }) if number == 1 => recording.fingerprint = fingerprint,
            Ok(_) if number == 1 => return Err(damaged(1, "no journal header; is this a journal?".to_owned())),
            Ok(Line::Journal { .. }) => {
                return Err(damaged(number, "a second header; two journals joined?".to_owned()));
            }
            Ok(Line::Answer(record)) if bytes.ends_with(b"\n") => {
                recording.answers.insert(record.ask.clone(), *record);
            }
            Ok(Line::Closed(case)) if bytes.ends_with(b"\n") => recording.closed.push(case),
            _ => {
                // Only the last line can be torn by a crash: there must be nothing behind it.
                let rest = reader.fill_buf().map_err(io)?;
                if number == 1 || !rest.is_empty() {
                    let why = if number == 1 {
                        "no journal header; is this a journal?"
                    } else {
                        "not a journal line"
                    };
                    return Err(damaged(
                        number,
                        format!("{why}; nothing was changed. Record to a new file"),
                    ));
                }
                recording.torn_bytes = read as u64;
                return Ok((recording, whole));
            }
        }
        whole += read as u64;
    }
}

/// Longest time that what is written may wait before it is brought to the disk. A killed process
/// loses nothing by it, since the system has the bytes; only a power cut can.
const SYNC_EVERY: Duration = Duration::from_millis(500);

/// An open journal; many tasks may append.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    /// When the file was last brought to the disk.
    synced: Mutex<Instant>,
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Nobody is left to be told of a failure; the bytes are with the system either way.
        drop(self.lock().sync_data());
    }
}

impl Journal {
    /// Begins a new journal. An existing file is refused: a journal is never overwritten.
    ///
    /// # Errors
    /// When the file exists, cannot be made or is in use.
    pub fn create(path: &Path, fingerprint: &Fingerprint) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io {
            path: path.to_owned(),
            source,
        };
        let file = OpenOptions::new()
            .append(true)
            .read(true)
            .create_new(true)
            .open(path)
            .map_err(io)?;
        let journal = Self::locked(path, file)?;
        journal.append(&Line::Journal {
            version: JOURNAL_VERSION,
            fingerprint: fingerprint.clone(),
        })?;
        Ok(journal)
    }

    /// Opens a journal to go on with it: cuts off a torn tail and refuses one made with other settings.
    ///
    /// # Errors
    /// As [`Recording::read`]; when settings differ; when another process has it open.
    pub fn resume(path: &Path, fingerprint: &Fingerprint) -> Result<(Self, Recording), JournalError> {
        let io = |source| JournalError::Io {
            path: path.to_owned(),
            source,
        };
        let file = OpenOptions::new().append(true).read(true).open(path).map_err(io)?;
        let journal = Self::locked(path, file)?;
        let again = File::open(path).map_err(io)?;
        let (recording, whole) = read_from(path, again)?;
        let differences = differences(&recording.fingerprint, fingerprint);
        if !differences.is_empty() {
            return Err(JournalError::OtherRun {
                path: path.to_owned(),
                differences,
            });
        }
        {
            let mut file = journal.lock();
            if recording.torn_bytes > 0 {
                file.set_len(whole).map_err(io)?;
            }
            file.seek(SeekFrom::End(0)).map_err(io)?;
        }
        Ok((journal, recording))
    }

    fn locked(path: &Path, file: File) -> Result<Self, JournalError> {
        match file.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                file: Mutex::new(file),
                synced: Mutex::new(Instant::now()),
            }),
            Err(std::fs::TryLockError::WouldBlock) => Err(JournalError::Locked { path: path.to_owned() }),
            Err(std::fs::TryLockError::Error(source)) => Err(JournalError::Io {
                path: path.to_owned(),
                source,
            }),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Appends an answer.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn answer(&self, record: AnswerRecord) -> Result<(), JournalError> {
        self.append(&Line::Answer(Box::new(record)))
    }

    /// Appends the end of a case and brings everything so far to disk, at most twice a second.
    ///
    /// # Errors
    /// When the disk says no.
    pub fn close(&self, case: ClosedCase) -> Result<(), JournalError> {
        self.append(&Line::Closed(case))?;
        let io = |source| JournalError::Io {
            path: self.path.clone(),
            source,
        };
        // Whoever holds this is bringing all of it to the disk.
        let Ok(mut synced) = self.synced.try_lock() else {
            return Ok(());
        };
        if synced.elapsed() < SYNC_EVERY {
            return Ok(());
        }
        // Others go on appending meanwhile.
        let file = self.lock().try_clone().map_err(io)?;
        file.sync_data().map_err(io)?;
        *synced = Instant::now();
        Ok(())
    }

    fn append(&self, line: &Line) -> Result<(), JournalError> {
        let io = |source| JournalError::Io {
            path: self.path.clone(),
            source,
        };
        let mut bytes = serde_json::to_vec(line).map_err(|error| io(error.into()))?;
        bytes.push(b'\n');
        self.lock().write_all(&bytes).map_err(io)
    }
}

fn differences(recorded: &Fingerprint, now: &Fingerprint) -> String {
    let names: std::collections::BTreeSet<&String> = recorded.keys().chain(now.keys()).collect();
    let none = "nothing".to_owned();
    let differing = names
        .into_iter()
        .filter(|name| recorded.get(*name) != now.get(*name))
        .map(|name| {
            let (then, now) = (recorded.get(name).unwrap_or(&none), now.get(name).unwrap_or(&none));
            format!("{name} was {then}, is {now}")
        });
    differing.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Method;
    use crate::trajectory::Stage;

    fn record(case_id: &str, text: &str) -> AnswerRecord {
        let ask = AskId {
            input: 0,
            case_id: case_id.to_owned(),
            method: Method::Drift,
            judge: 0,
            stage: Stage::Keeper,
            part: 0,
            attempt: 0,
            repeat: 0,
        };
        AnswerRecord {
            ask,
            request_hash: "ab".to_owned(),
            outcome: Outcome::Reply,
            text: text.to_owned(),
            usage: Usage::default(),
            notes: Vec::new(),
        }
    }

    fn print(model: &str) -> Fingerprint {
        [("model".to_owned(), model.to_owned())].into()
    }

    #[test]
    fn a_torn_tail_is_cut_and_the_rest_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.jsonl");
        let journal = Journal::create(&path, &print("m")).unwrap();
        journal.answer(record("t1", "line\u{85}with a next-line mark")).unwrap();
        journal.answer(record("t2", "second")).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in 1..40 {
            std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let (journal, recording) = Journal::resume(&path, &print("m")).unwrap();
            assert_eq!(recording.answers.len(), 1, "cut {cut}");
            assert!(recording.torn_bytes > 0);
            journal.answer(record("t2", "again")).unwrap();
            drop(journal);
            let recording = Recording::read(&path).unwrap();
            assert_eq!(recording.answers.len(), 2);
            assert_eq!(recording.torn_bytes, 0);
        }
    }

    #[test]
    fn other_settings_and_damage_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.jsonl");
        drop(Journal::create(&path, &print("m")).unwrap());
        let error = Journal::resume(&path, &print("other")).unwrap_err().to_string();
        assert!(error.contains("model was m, is other"), "{error}");
        assert!(matches!(
            Journal::create(&path, &print("m")),
            Err(JournalError::Io { .. })
        ));

        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend(b"garbage\n{\"closed\":{}}\n");
        std::fs::write(&path, &bytes).unwrap();
        let error = Journal::resume(&path, &print("m")).unwrap_err().to_string();
        assert!(error.contains(":2:"), "{error}");

        std::fs::write(&path, "{\"journal\":{\"version\":9,\"fingerprint\":{}}}\n").unwrap();
        let error = Recording::read(&path).unwrap_err().to_string();
        assert!(error.contains("version 9"), "{error}");
    }

    #[test]
    fn two_processes_cannot_write_one_journal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.jsonl");
        let _held = Journal::create(&path, &print("m")).unwrap();
        assert!(matches!(
            Journal::resume(&path, &print("m")),
            Err(JournalError::Locked { .. })
        ));
    }
}
