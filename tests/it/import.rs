//! `auditor import`: logs in, rows of spans out.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

fn auditor(args: &[&str], stdin: &str) -> Output {
    assert_cmd::Command::new(env!("CARGO_BIN_EXE_auditor"))
        .args(args)
        .env_remove("OPENAI_API_KEY")
        .env_remove("AUDITOR_MODEL")
        .write_stdin(stdin)
        .output()
        .unwrap()
}

fn rows(text: &[u8]) -> Vec<Value> {
    std::str::from_utf8(text)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A session as Claude Code writes it: question, a look, an answer.
fn session() -> String {
    let line = |uuid: usize, kind: &str, content: Value| json!({"uuid": format!("u{uuid}"), "sessionId": "sess-1", "type": kind, "message": {"role": kind, "content": content}});
    [
        line(1, "user", json!("Which light was electrified first?")),
        line(
            2,
            "assistant",
            json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file": "/home/mara/lights.txt"}}]),
        ),
        line(
            3,
            "user",
            json!([{"type": "tool_result", "tool_use_id": "t1", "content": "Kestrel Point: 1931"}]),
        ),
        line(
            4,
            "assistant",
            json!([{"type": "text", "text": "Kestrel Point, in 1931."}]),
        ),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect()
}

#[test]
fn the_formats_are_listed() {
    let out = auditor(&["import", "--list"], "");
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success());
    for name in ["openai-chat", "claude-code", "codex", "tau-bench", "generic"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}\n{text}");
    }
    let unknown = auditor(&["import", "--from", "nonsense", "-"], "");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("openai-chat"));
}

#[test]
fn a_session_becomes_a_row_with_gold_and_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "s.jsonl", &session());
    let gold = write(
        folder.path(),
        "gold.jsonl",
        "{\"id\": \"sess-1\", \"steps\": [0, 3], \"first\": 3}\n",
    );
    let target = folder.path().join("spans.jsonl");
    let out = auditor(
        &[
            "import",
            &log,
            "-o",
            target.to_str().unwrap(),
            "--one-span-per-turn",
            "--redact",
            "--gold-steps",
            &gold,
        ],
        "",
    );
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{said}");
    assert!(out.stdout.is_empty());
    assert!(
        said.contains("claude-code, 4 turns -> 4 spans, question found"),
        "{said}"
    );
    let rows = rows(&std::fs::read(&target).unwrap());
    assert_eq!(rows[0]["id"], "sess-1");
    assert_eq!(rows[0]["question"], "Which light was electrified first?");
    assert_eq!(rows[0]["gold"]["error_span_ids"], json!(["s004", "s001"]));
    assert_eq!(
        rows[0]["spans"][1]["raw"],
        "[tool call Read]\n{\"file\":\"/home/[user]/lights.txt\"}"
    );
    assert_eq!(rows[0]["spans"][2]["raw_start_step"], 2);
    assert_eq!(rows[0]["spans"][2]["observation"], true);
}

#[test]
fn what_was_imported_reads_like_the_log_itself() {
    let imported = auditor(&["import", "-"], &session());
    let again = auditor(&["import", "-"], std::str::from_utf8(&imported.stdout).unwrap());
    let (first, second) = (rows(&imported.stdout), rows(&again.stdout));
    assert_eq!(first[0]["spans"], second[0]["spans"]);
    assert_eq!(first[0]["question"], second[0]["question"]);

    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "s.jsonl", &session());
    let audited = auditor(&["localize", &log, "--format", "json"], "");
    assert!(audited.status.success(), "{}", String::from_utf8_lossy(&audited.stderr));
    let result = &rows(&audited.stdout)[0];
    assert_eq!(result["case_id"], "sess-1");
    assert_eq!(result["status"], "ok");
}

#[test]
fn exit_codes_tell_all_some_and_none() {
    let good = json!([{"role": "user", "content": "q?"}, {"role": "assistant", "content": "a"}]).to_string();
    let some = auditor(
        &["import", "-"],
        &format!("{good}\n{{\"id\": \"x\", \"question\": \"q\"}}\n"),
    );
    assert_eq!(some.status.code(), Some(4), "{}", String::from_utf8_lossy(&some.stderr));
    assert_eq!(rows(&some.stdout).len(), 1);
    let none = auditor(&["import", "-"], "");
    assert_eq!(none.status.code(), Some(2));
    let missing = auditor(&["import", "no-such-file.jsonl", "-o", "/no/such/folder/out"], "");
    assert_eq!(missing.status.code(), Some(2));
}
