//! What is to be audited: the labelled runs of the data, how many of them, and in which order.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::eval::CaseSet;
use crate::trajectory::formats::{ReadOptions, Record, Records};
use crate::trajectory::{Gold, GoldError, read_gold};

/// Key of `meta` that `--difficulty` looks at.
const DIFFICULTY: &str = "difficulty";

/// Which runs are wanted.
pub(super) struct Wanted<'a> {
    pub data: &'a Path,
    pub gold: Option<&'a Path>,
    pub limit: Option<usize>,
    pub shuffle: Option<u64>,
    pub difficulty: &'a [String],
}

/// The runs to audit.
pub(super) struct Plan {
    /// Labels of the chosen runs: for the scores alone.
    pub cases: CaseSet,
    /// Hash of the data file, 64 hex digits.
    pub hash: String,
    /// Hash of the file of labels, when that is another one.
    pub gold_hash: Option<String>,
    /// Bytes of the data file.
    pub bytes: u64,
    /// Labelled runs in the data.
    pub labelled: usize,
    /// Of them, those to audit.
    pub chosen: usize,
    /// What was odd.
    pub notes: Vec<String>,
    data: PathBuf,
    order: Order,
}

/// How the chosen runs are read.
enum Order {
    /// As they come. The set holds the chosen ids, `all` that nothing labelled was left out.
    File { chosen: HashSet<String>, all: bool },
    /// By line, each with its first byte.
    Lines(Vec<(u64, u64)>),
    /// By id, out of a file that is not a record a line.
    Ids(Vec<String>),
}

/// A run in the data.
struct Head {
    line: Option<u64>,
    id: String,
}

/// A pass over a file's bytes.
struct Bytes {
    hash: String,
    count: u64,
    /// First byte of each line.
    lines: Vec<u64>,
}

impl Plan {
    /// Reads the data twice, a line at a time: its bytes for the hash, its labels for the scores.
    pub fn new(wanted: &Wanted<'_>) -> anyhow::Result<Self> {
        if wanted.data == Path::new("-") {
            bail!("--data -: the data is read more than once, so it must be a file");
        }
        let bytes = bytes_of(wanted.data, wanted.shuffle.is_some())?;
        let gold_hash = wanted
            .gold
            .map(|path| bytes_of(path, false).map(|bytes| bytes.hash))
            .transpose()?;
        let (mut cases, heads) = labels(wanted)?;
        let labelled = cases.cases().len();
        if labelled == 0 {
            let place = wanted.gold.unwrap_or(wanted.data).display();
            bail!(
                "{place}: no run in it has a label (gold.error_span_ids), so there is nothing to score; --gold FILE names a file of labels"
            );
        }
        let mut notes = Vec::new();
        let mut seen = HashSet::new();
        let mut chosen: Vec<(usize, Head)> = heads
            .into_iter()
            .filter_map(|head| Some((cases.find(&head.id)?, head)))
            .filter(|(number, _)| is_wanted(&cases, *number, wanted.difficulty) && seen.insert(*number))
            .collect();
        if chosen.is_empty() {
            bail!(
                "{}: no labelled run is left to audit{}",
                wanted.data.display(),
                of_difficulty(&cases, wanted.difficulty)
            );
        }
        if cases.unlabelled > 0 {
            notes.push(format!("{} runs without a label were left out.", cases.unlabelled));
        }
        if let Some(seed) = wanted.shuffle {
            shuffle(&mut chosen, seed);
        }
        chosen.truncate(wanted.limit.unwrap_or(usize::MAX));
        let kept: HashSet<usize> = chosen.iter().map(|(number, _)| *number).collect();
        cases.retain(|number, _| kept.contains(&number));
        let all = chosen.len() == labelled;
        let count = chosen.len();
        let order = order(chosen, &bytes.lines, wanted.shuffle.is_some(), all);
        let Bytes { hash, count: bytes, .. } = bytes;
        Ok(Self {
            cases,
            hash,
            gold_hash,
            bytes,
            labelled,
            chosen: count,
            notes,
            data: wanted.data.to_owned(),
            order,
        })
    }

    /// The data's name for tables, with how much of it is audited.
    pub fn name(&self) -> String {
        let file = self
            .data
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        if self.chosen == self.labelled {
            file
        } else {
            format!("{file}, {} of its {} labelled runs", self.chosen, self.labelled)
        }
    }

    /// The records to audit, each with a number that stays the same whatever is chosen and in whatever order:
    /// its 0-based line, or its place where lines say nothing. Records that cannot be read come too.
    pub fn records(&self) -> anyhow::Result<Box<dyn Iterator<Item = (u64, Record)>>> {
        let name = self.data.display().to_string();
        let file = || File::open(&self.data).with_context(|| name.clone());
        let whole = |file| {
            Records::new(BufReader::with_capacity(1 << 16, file), &name, ReadOptions::default())
                .zip(0..)
                .map(numbered)
        };
        Ok(match &self.order {
            Order::File { chosen, all } => {
                let (chosen, all, mut left) = (chosen.clone(), *all, chosen.len());
                let mut records = whole(file()?);
                Box::new(std::iter::from_fn(move || {
                    // Behind the last chosen run nothing is wanted, not even what cannot be read.
                    while all || left > 0 {
                        let (place, record) = records.next()?;
                        if is_chosen(&record, &chosen) {
                            left = left.saturating_sub(usize::from(record.outcome.is_ok()));
                            return Some((place, record));
                        }
                    }
                    None
                }))
            }
            Order::Lines(lines) => {
                let (mut file, lines) = (file()?, lines.clone());
                Box::new(lines.into_iter().filter_map(move |(line, begin)| {
                    one_line(&mut file, &name, line, begin).map(|record| numbered((record, line)))
                }))
            }
            Order::Ids(ids) => {
                let places: HashMap<&str, usize> = ids.iter().map(String::as_str).zip(0..).collect();
                let place = |record: &Record| {
                    record
                        .outcome
                        .as_ref()
                        .ok()
                        .and_then(|loaded| places.get(loaded.run.case_id()).copied())
                };
                let mut found: Vec<(usize, (u64, Record))> =
                    whole(file()?).filter_map(|one| Some((place(&one.1)?, one))).collect();
                found.sort_by_key(|(place, _)| *place);
                Box::new(found.into_iter().map(|(_, one)| one))
            }
        })
    }
}

fn numbered((record, place): (Record, u64)) -> (u64, Record) {
    (record.source.line.map_or(place, |line| line.saturating_sub(1)), record)
}

fn is_chosen(record: &Record, chosen: &HashSet<String>) -> bool {
    match &record.outcome {
        Ok(loaded) => chosen.contains(loaded.run.case_id()),
        Err(error) => error.case_id.as_ref().is_none_or(|id| chosen.contains(id)),
    }
}

/// The record on one line, read as it would be in its place: behind as many line breaks, and not the only one.
fn one_line(file: &mut File, name: &str, line: u64, begin: u64) -> Option<Record> {
    file.seek(SeekFrom::Start(begin)).ok()?;
    let mut text = Vec::new();
    BufReader::new(&mut *file).read_until(b'\n', &mut text).ok()?;
    text.extend(b"\n{}\n");
    let before = std::io::repeat(b'\n').take(line.saturating_sub(1));
    let reader = BufReader::new(before.chain(std::io::Cursor::new(text)));
    Records::new(reader, name, ReadOptions::default()).next()
}

fn order(chosen: Vec<(usize, Head)>, lines: &[u64], shuffled: bool, all: bool) -> Order {
    if !shuffled {
        return Order::File {
            chosen: chosen.into_iter().map(|(_, head)| head.id).collect(),
            all,
        };
    }
    let place = |head: &Head| {
        Some((
            head.line?,
            *lines.get(usize::try_from(head.line?).ok()?.checked_sub(1)?)?,
        ))
    };
    let places: Option<Vec<(u64, u64)>> = chosen.iter().map(|(_, head)| place(head)).collect();
    let distinct = |places: &Vec<(u64, u64)>| places.iter().collect::<HashSet<_>>().len() == places.len();
    match places.filter(distinct) {
        Some(places) => Order::Lines(places),
        None => Order::Ids(chosen.into_iter().map(|(_, head)| head.id).collect()),
    }
}

/// Hash and size of a file, and where its lines begin if that is wanted.
fn bytes_of(path: &Path, with_lines: bool) -> anyhow::Result<Bytes> {
    let name = || path.display().to_string();
    let mut file = File::open(path).with_context(name)?;
    let mut hasher = blake3::Hasher::new();
    let (mut count, mut lines) = (0_u64, if with_lines { vec![0] } else { Vec::new() });
    let mut piece = vec![0; 1 << 17];
    loop {
        let read = file.read(&mut piece).with_context(name)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hasher.update(bytes);
        if with_lines {
            lines.extend(memchr::memchr_iter(b'\n', bytes).map(|at| count + at as u64 + 1));
        }
        count += read as u64;
    }
    Ok(Bytes {
        hash: hasher.finalize().to_hex().to_string(),
        count,
        lines,
    })
}

/// The labels, and the runs that the data holds in its order.
fn labels(wanted: &Wanted<'_>) -> anyhow::Result<(CaseSet, Vec<Head>)> {
    let mut cases = CaseSet::new(vec![DIFFICULTY.to_owned()], None);
    let mut heads = Vec::new();
    let apart = wanted.gold.is_some();
    // Rows of the data that are no rows at all are left to the reader of runs, which says so.
    let of_data: fn(&GoldError) -> bool = if apart {
        |_| false
    } else {
        |error| matches!(error, GoldError::Shape { .. })
    };
    read_labels(wanted.data, of_data, |line, gold| {
        heads.push(Head {
            line,
            id: gold.case_id.clone(),
        });
        if apart {
            cases.push_spans(&gold.case_id, gold.span_ids)
        } else {
            cases.push(gold)
        }
    })?;
    if let Some(path) = wanted.gold {
        read_labels(
            path,
            |error| !matches!(error, GoldError::NoId),
            |_, gold| cases.push(gold),
        )?;
    }
    Ok((cases, heads))
}

/// Reads gold rows. An error that is `fatal` ends the command: scores against part of the labels would not
/// say so.
fn read_labels(
    path: &Path,
    fatal: fn(&GoldError) -> bool,
    mut each: impl FnMut(Option<u64>, Gold),
) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut wrong = None;
    read_gold(BufReader::with_capacity(1 << 16, file), |line, row| match row {
        Ok(gold) => each(line, gold),
        Err(error) if fatal(&error) => {
            wrong.get_or_insert((line, error));
        }
        Err(_) => {}
    })
    .with_context(|| path.display().to_string())?;
    match wrong {
        Some((line, error)) => {
            let at = line.map_or_else(String::new, |line| format!(":{line}"));
            Err(error).with_context(|| format!("{}{at}", path.display()))
        }
        None => Ok(()),
    }
}

fn difficulty(cases: &CaseSet, number: usize) -> &str {
    let key = cases.keys().iter().position(|key| key == DIFFICULTY);
    let value = key
        .zip(cases.cases().get(number))
        .and_then(|(key, case)| Some((key, *case.groups.get(key)?)));
    value.map_or(CaseSet::NONE, |(key, value)| cases.value(key, value))
}

fn is_wanted(cases: &CaseSet, number: usize, words: &[String]) -> bool {
    words.is_empty() || words.iter().any(|word| word == difficulty(cases, number))
}

fn of_difficulty(cases: &CaseSet, words: &[String]) -> String {
    if words.is_empty() {
        return String::new();
    }
    let there: std::collections::BTreeSet<&str> = (0..cases.cases().len())
        .map(|number| difficulty(cases, number))
        .collect();
    let there: Vec<&str> = there.into_iter().collect();
    format!(
        ": --difficulty {} is asked for, and the labels' meta.difficulty says {}",
        words.join(","),
        there.join(", ")
    )
}

/// Fisher and Yates, drawn from ChaCha8: the same seed gives the same order everywhere.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for end in (1..items.len()).rev() {
        let at = ((u128::from(random.next_u64()) * (end as u128 + 1)) >> 64) as usize;
        items.swap(at, end);
    }
}
