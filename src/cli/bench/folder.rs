//! Where a run of `bench` lies: a folder whose name says what it is, and what makes it another one.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::store::{Fingerprint, Journal, Recording, files};

/// Name of the file that says what a folder holds.
pub(super) const MANIFEST: &str = "manifest.json";
/// Version of that file.
pub(super) const SCHEMA: &str = "auditor.bench/1";
/// Longest readable part of a folder's name.
const LONGEST: usize = 72;

/// One judge under one method, as far as its answers depend on it.
#[derive(Clone, Debug)]
pub(super) struct LaneId {
    /// Model as named by the user.
    pub model: String,
    /// Word of the method.
    pub method: &'static str,
    /// What its answers depend on.
    pub print: Fingerprint,
    /// Part of file names.
    pub slug: String,
}

impl LaneId {
    /// Name in messages.
    pub fn name(&self) -> String {
        format!("{} / {}", self.model, self.method)
    }

    /// Its journal's file name.
    pub fn journal(&self) -> String {
        format!("journal.{}.jsonl", self.slug)
    }
}

/// Gives every lane a part of file names, no two the same.
pub(super) fn name_lanes(lanes: &mut [LaneId]) {
    let mut taken = std::collections::BTreeSet::new();
    for lane in lanes {
        let plain = slug(&format!("{}-{}", lane.model, lane.method));
        let mut name = plain.clone();
        let mut number = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{plain}-{number}");
            number += 1;
        }
        lane.slug = name;
    }
}

/// Letters, digits, `.`, `_` and `-`: what every file system takes.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let kept = if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
            c
        } else {
            '-'
        };
        if kept != '-' || !out.ends_with('-') {
            out.push(kept);
        }
    }
    let out = out.trim_matches(['-', '.']);
    if out.is_empty() { "x".to_owned() } else { out.to_owned() }
}

/// What makes a run this run, for comparing with others: name → value.
pub(super) fn identity(data_hash: &str, gold_hash: Option<&str>, lanes: &[LaneId]) -> BTreeMap<String, String> {
    let mut identity = BTreeMap::from([("data".to_owned(), data_hash.to_owned())]);
    identity.extend(gold_hash.map(|hash| ("gold".to_owned(), hash.to_owned())));
    let list = |of: fn(&LaneId) -> &str| {
        let all: std::collections::BTreeSet<&str> = lanes.iter().map(of).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    identity.insert("models".to_owned(), list(|lane| &lane.model));
    identity.insert("methods".to_owned(), list(|lane| lane.method));
    for lane in lanes {
        for (name, value) in &lane.print {
            // What all lanes share is said once; the rest belongs to a model.
            let shared = lanes.iter().all(|other| other.print.get(name) == Some(value));
            let key = if shared {
                name.clone()
            } else {
                format!("{name} of {}", lane.model)
            };
            if !matches!(name.as_str(), "method" | "model") {
                identity.insert(key, value.clone());
            }
        }
    }
    identity
}

/// The folder of a run.
pub(super) fn path(runs_dir: &Path, data: &Path, lanes: &[LaneId], identity: &BTreeMap<String, String>) -> PathBuf {
    let stem = data
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let list = |name: &str| {
        identity
            .get(name)
            .map_or(String::new(), |names| names.replace(", ", "+"))
    };
    let mut readable = slug(&format!("{stem}-{}-{}", list("models"), list("methods")));
    readable.truncate(LONGEST);
    let mut hasher = blake3::Hasher::new();
    let mut prints: Vec<&Fingerprint> = lanes.iter().map(|lane| &lane.print).collect();
    prints.sort();
    let parts = prints.iter().flat_map(|print| print.iter()).chain(identity);
    for text in parts.flat_map(|(name, value)| [name, value]) {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    let hash = hasher.finalize().to_hex();
    runs_dir.join(format!(
        "{}-{}",
        readable.trim_end_matches(['-', '.']),
        hash.get(..10).unwrap_or_default()
    ))
}

/// What is read of another run's manifest.
#[derive(Deserialize)]
struct Other {
    #[serde(default)]
    identity: BTreeMap<String, String>,
}

/// In what a new run differs from the one in `runs_dir` that is nearest to it, in words; `None` when there
/// is no other.
pub(super) fn nearest_other(runs_dir: &Path, own: &Path, identity: &BTreeMap<String, String>) -> Option<String> {
    let others = std::fs::read_dir(runs_dir)
        .ok()?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path != own);
    let compared = others.filter_map(|path| {
        let other: Other = serde_json::from_str(&files::read_text(&path.join(MANIFEST)).ok()?).ok()?;
        Some((differences(&other.identity, identity), path))
    });
    let (differences, path) = compared
        .filter(|(found, _)| !found.is_empty())
        .min_by_key(|(found, _)| found.len())?;
    Some(format!("{} differs in {}", path.display(), differences.join("; ")))
}

fn differences(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let shown = |value: Option<&String>| value.map_or("nothing".to_owned(), |value| short(value));
    let differing = names.into_iter().filter(|name| then.get(*name) != now.get(*name));
    differing
        .map(|name| {
            format!(
                "{name} ({} there, {} here)",
                shown(then.get(name)),
                shown(now.get(name))
            )
        })
        .collect()
}

/// A hash by its first digits; other values as they are.
fn short(value: &str) -> String {
    let is_hash = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        value.get(..8).unwrap_or(value).to_owned()
    } else {
        value.to_owned()
    }
}

/// A lane's journal, open for more, with what it holds.
pub(super) struct Opened {
    pub journal: Journal,
    pub recording: Recording,
    /// The folder of another run that the answers were taken over from.
    pub taken_from: Option<PathBuf>,
}

/// Opens the journal of a lane, or begins it. A new one takes over what another run in `runs_dir` holds if
/// its answers depend on the very same things: such a run differs only in which other judges it asks.
pub(super) fn open_journal(runs_dir: &Path, folder: &Path, lane: &LaneId) -> anyhow::Result<Opened> {
    let path = folder.join(lane.journal());
    let mut taken_from = None;
    if !path.exists() {
        match twin(runs_dir, folder, lane) {
            Some((file, other)) => {
                files::write_atomic(&path, &files::read_bytes(&file)?)?;
                taken_from = Some(other);
            }
            None => {
                let journal = Journal::create(&path, &lane.print)?;
                return Ok(Opened {
                    journal,
                    recording: Recording::default(),
                    taken_from,
                });
            }
        }
    }
    if !has_a_line(&path)? {
        std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
        let journal = Journal::create(&path, &lane.print)?;
        return Ok(Opened {
            journal,
            recording: Recording::default(),
            taken_from,
        });
    }
    let (journal, recording) = Journal::resume(&path, &lane.print)?;
    Ok(Opened {
        journal,
        recording,
        taken_from,
    })
}

/// False for a journal whose writer was killed between making the file and ending its first line: nothing
/// is lost with it.
fn has_a_line(path: &Path) -> anyhow::Result<bool> {
    let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
    let mut line = Vec::new();
    BufReader::new(file)
        .read_until(b'\n', &mut line)
        .with_context(|| path.display().to_string())?;
    Ok(line.ends_with(b"\n"))
}

/// The largest journal of another run with the same fingerprint, and that run's folder.
fn twin(runs_dir: &Path, own: &Path, lane: &LaneId) -> Option<(PathBuf, PathBuf)> {
    let folders = std::fs::read_dir(runs_dir)
        .ok()?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path != own);
    let journals = folders.flat_map(|folder| {
        let files = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path());
        let is_journal = |path: &PathBuf| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("journal."))
        };
        files
            .filter(is_journal)
            .map(|file| (file, folder.clone()))
            .collect::<Vec<_>>()
    });
    let same = journals.filter(|(file, _)| Recording::header(file).is_ok_and(|print| print == lane.print));
    same.max_by_key(|(file, _)| std::fs::metadata(file).map_or(0, |found| found.len()))
}

/// Writes a value as indented JSON, whole or not at all.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).context("writing JSON")?;
    bytes.push(b'\n');
    files::write_atomic(path, &bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(model: &str, prompts: &str) -> LaneId {
        let print = Fingerprint::from([
            ("prompts".to_owned(), prompts.to_owned()),
            ("model".to_owned(), model.to_owned()),
        ]);
        LaneId {
            model: model.to_owned(),
            method: "drift",
            print,
            slug: String::new(),
        }
    }

    #[test]
    fn file_names_are_safe_and_apart() {
        assert_eq!(slug("../a b:c//é"), "a-b-c");
        assert_eq!(slug("..."), "x");
        let mut lanes = [lane("a/b", "1"), lane("a:b", "1"), lane("A-b", "1")];
        name_lanes(&mut lanes);
        assert_eq!(lanes.map(|lane| lane.slug), ["a-b-drift", "a-b-drift-2", "A-b-drift-3"]);
    }

    #[test]
    fn order_changes_nothing_and_every_part_does() {
        let of = |data: &str, lanes: &[LaneId]| {
            path(
                Path::new("r"),
                Path::new("d/runs.jsonl"),
                lanes,
                &identity(data, None, lanes),
            )
        };
        let (a, b) = (lane("a", "1"), lane("b", "1"));
        let both = of("h", &[a.clone(), b.clone()]);
        assert_eq!(both, of("h", &[b, a.clone()]));
        assert!(both.to_string_lossy().starts_with("r/runs-a-b-drift-"), "{both:?}");
        let single = of("h", &[a]);
        assert!(single != both && single != of("x", &[lane("a", "1")]) && single != of("h", &[lane("a", "2")]));
    }

    #[test]
    fn the_nearest_run_is_named_with_what_differs() {
        let dir = tempfile::tempdir().unwrap();
        for (name, prompts, data) in [("far", "1", "x"), ("near", "1", "h")] {
            let lanes = [lane("a", prompts)];
            let manifest = serde_json::json!({ "identity": identity(data, None, &lanes) });
            std::fs::create_dir(dir.path().join(name)).unwrap();
            write_json(&dir.path().join(name).join(MANIFEST), &manifest).unwrap();
        }
        let words = nearest_other(
            dir.path(),
            &dir.path().join("own"),
            &identity("h", None, &[lane("a", "2")]),
        )
        .unwrap();
        assert!(
            words.contains("near differs in prompts (1 there, 2 here)") && !words.contains("data"),
            "{words}"
        );
        assert_eq!(nearest_other(Path::new("nowhere"), dir.path(), &BTreeMap::new()), None);
    }
}
