//! The published algorithm to the letter: input and output pairs recorded from the released code
//! (`tests/golden/`). A vector passes, or `tests/golden/README.md` declines it by name.

mod convert;
mod declined;
mod steps;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

/// What our code makes of a vector's input.
pub enum Outcome {
    /// The result in the published shape.
    Result(Value),
    /// An error in words, where the published code raises.
    Refused(String),
}

/// One recorded pair.
pub struct Vector {
    function: String,
    name: String,
    input: Value,
    expected: Value,
}

impl Vector {
    fn key(&self) -> String {
        format!("{}/{}", self.function, self.name)
    }

    /// True when our outcome is what was recorded: the same value, or an error where one was raised.
    fn is_met_by(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Result(value) => self.expected.get("result") == Some(value),
            Outcome::Refused(_) => self.expected.get("raises").is_some(),
        }
    }
}

fn golden(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(file)
}

fn vectors(file: &str) -> Vec<Vector> {
    let text = std::fs::read_to_string(golden(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let word = |row: &Value, field: &str| row[field].as_str().expect(field).to_owned();
    rows.into_iter()
        .map(|row| Vector {
            function: word(&row, "function"),
            name: word(&row, "name"),
            input: row["input"].clone(),
            expected: row["expected"].clone(),
        })
        .collect()
}

/// Names of declined vectors, `function/name`, as the README lists them.
fn declined() -> BTreeSet<String> {
    let readme = std::fs::read_to_string(golden("README.md")).expect("README.md");
    readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(key, _)| key.to_owned())
        .collect()
}

/// Names of vectors in which the published code crashes and ours gives an error in words.
fn refused() -> BTreeSet<String> {
    let readme = std::fs::read_to_string(golden("README.md")).expect("README.md");
    let names = readme
        .lines()
        .filter_map(|line| line.strip_prefix("- `")?.split_once('`'));
    names.map(|(key, _)| key.to_owned()).collect()
}

/// Runs a file: every vector passes or is declined by name, and no vector is declined that passes.
fn check(file: &str, ours: impl Fn(&Vector) -> Outcome) {
    let declined = declined();
    let mut wrong = Vec::new();
    for vector in vectors(file) {
        let outcome = ours(&vector);
        let met = vector.is_met_by(&outcome);
        if met == declined.contains(&vector.key()) {
            let got = match outcome {
                Outcome::Result(value) => value.to_string(),
                Outcome::Refused(error) => format!("error: {error}"),
            };
            let said = if met { "declined, but passes" } else { "differs" };
            wrong.push(format!(
                "{}: {said}\n  expected {}\n  got {got}",
                vector.key(),
                vector.expected
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {file}:\n{}", wrong.len(), wrong.join("\n"));
}

fn all() -> Vec<Vector> {
    let entries = std::fs::read_dir(golden("")).expect("tests/golden");
    let names = entries.map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8"));
    names
        .filter(|name| name.ends_with(".json"))
        .flat_map(|name| vectors(&name))
        .collect()
}

#[test]
fn the_readme_names_only_vectors_that_exist() {
    let known: BTreeSet<String> = all().iter().map(Vector::key).collect();
    let unknown: Vec<String> = declined().difference(&known).cloned().collect();
    assert!(unknown.is_empty(), "declined but not recorded: {unknown:?}");
}

/// Functions whose crashes have a test of their own: the published parser's, the loader's
/// (`golden_load`) and the scorer's (`golden_eval`).
const ELSEWHERE: [&str; 6] = [
    "parse_json_object",
    "load_cases",
    "sanitize_case",
    "evaluate",
    "load_gold",
    "load_predictions",
];

#[test]
fn the_readme_names_every_crash_that_ours_refuses() {
    let declined = declined();
    let crashes: BTreeSet<String> = all()
        .iter()
        .filter(|vector| vector.expected.get("raises").is_some() && !ELSEWHERE.contains(&vector.function.as_str()))
        .map(Vector::key)
        .filter(|key| !declined.contains(key))
        .collect();
    assert_eq!(refused(), crashes);
}
