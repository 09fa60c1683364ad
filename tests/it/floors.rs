//! The house stands as the README says: a room uses only rooms below it, and nothing below `store`
//! knows tokio, HTTP, files, the environment or a clock (invariant I1).

use std::path::{Path, PathBuf};

use regex::Regex;

const FLOORS: [&[&str]; 9] = [
    &["trajectory"],
    &["eval", "evidence", "ledger"],
    &["reply"],
    &["audit", "gd"],
    &["prompt", "wire", "offline"],
    &["store"],
    &["drive"],
    &["report", "serve"],
    &["cli"],
];
const PURE: [&str; 10] = [
    "trajectory",
    "evidence",
    "ledger",
    "reply",
    "audit",
    "gd",
    "prompt",
    "wire",
    "offline",
    "eval",
];

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Room and code (without its tests) of every file below src.
fn rooms() -> Vec<(String, String, PathBuf)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    files(&src, &mut found);
    let is_test = |path: &Path| {
        path.file_stem().is_some_and(|stem| stem == "tests")
            || path.components().any(|part| part.as_os_str() == "tests")
    };
    found
        .into_iter()
        .filter(|path| !is_test(path))
        .filter_map(|path| {
            let below = path.strip_prefix(&src).unwrap();
            let room = below
                .components()
                .next()
                .unwrap()
                .as_os_str()
                .to_string_lossy()
                .trim_end_matches(".rs")
                .to_owned();
            floor(&room)?;
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
            Some((room, code, path))
        })
        .collect()
}

#[test]
fn rooms_use_only_rooms_below_them() {
    let import = Regex::new(r"\bcrate::(?:\{([^}]*)\}|(\w+))").unwrap();
    let rooms = rooms();
    assert!(rooms.len() > 50);
    for (room, code, path) in &rooms {
        let code: String = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
        for found in import.captures_iter(&code) {
            let names = found.get(1).or(found.get(2)).unwrap().as_str();
            for other in names.split(',').map(|name| name.trim().split("::").next().unwrap()) {
                let Some(other_floor) = floor(other).filter(|_| other != room) else {
                    continue;
                };
                assert!(
                    other_floor <= floor(room).unwrap(),
                    "{}: {room} uses {other}, a floor above it",
                    path.display()
                );
                assert!(
                    room != "eval" || other == "trajectory",
                    "{}: eval stands on trajectory alone, and uses {other}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn nothing_below_the_store_does_io() {
    let io = Regex::new(r"\b(tokio|reqwest|async_openai)::|std::(fs|net|env|process)\b|Instant::now|SystemTime::now|thread_rng|rand::rng\(").unwrap();
    for (room, code, path) in rooms() {
        if PURE.contains(&room.as_str()) {
            let found = io.find(&code).map(|found| found.as_str().to_owned());
            assert!(found.is_none(), "{}: {room} is to know no {found:?}", path.display());
        }
    }
}
