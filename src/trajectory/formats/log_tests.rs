//! A small log of every format, written here, held against what is made of it.

use serde_json::{Value, json};

use super::*;
use crate::trajectory::WarningCode;

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"Marrow Head\"}"}})
}

/// Format, its log (a list of lines where it comes in lines), question, turns.
fn fixtures() -> Vec<(&'static str, Vec<Value>, &'static str, usize)> {
    let chat = json!([
        {"role": "system", "content": "Be careful."},
        {"role": "user", "content": "Which light was first?"},
        {"role": "assistant", "content": null, "reasoning_content": "Look it up.", "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "acetylene in 1929"},
        {"role": "assistant", "content": "Marrow Head."}]);
    let blocks = json!([
        {"role": "user", "content": "Which light was first?"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hmm."}, {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "Marrow Head"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "acetylene"}]}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Marrow Head."}]}]);
    let items = json!({"object": "response", "id": "resp_1", "input": "Which light was first?", "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look it up."}]},
        {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "Marrow"},
        {"type": "function_call_output", "call_id": "c1", "output": "acetylene"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Marrow Head."}]}]});
    let line = |uuid: &str, kind: &str, message: Value| json!({"uuid": uuid, "sessionId": "sess", "type": kind, "isSidechain": false, "message": message});
    let claude = vec![
        line(
            "u1",
            "user",
            json!({"role": "user", "content": "Which light was first?"}),
        ),
        line(
            "u2",
            "assistant",
            json!({"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Looking."}]}),
        ),
        line(
            "u3",
            "assistant",
            json!({"id": "m1", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "go"}}]}),
        ),
        json!({"uuid": "u4", "sessionId": "sess", "type": "assistant", "isSidechain": true, "message": {"role": "assistant", "content": "Sub-agent at work."}}),
        line(
            "u3",
            "assistant",
            json!({"id": "m1", "role": "assistant", "content": "a duplicate line"}),
        ),
        line(
            "u5",
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "acetylene"}]}),
        ),
        json!({"uuid": "u6", "sessionId": "sess", "type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "So far: lights."}}),
    ];
    let codex = vec![
        json!({"type": "session_meta", "payload": {"id": "roll"}}),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "Which light was first?"}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Which light was first?"}]}}),
        json!({"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "ls", "call_id": "c"}}),
        json!({"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": "lights.txt"}}),
        json!({"type": "event_msg", "payload": {"type": "agent_message", "message": "Marrow Head."}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Marrow Head."}]}}),
        json!({"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": "Marrow Head."}}),
    ];
    let exec = vec![
        json!({"type": "thread.started", "thread_id": "th"}),
        json!({"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "Listing."}}),
        json!({"type": "item.completed", "item": {"id": "i1", "type": "command_execution", "command": "ls", "aggregated_output": "lights.txt"}}),
        json!({"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "Marrow Head."}}),
    ];
    let magentic = json!({"question": "Which light was first?", "history": [
        {"role": "human", "content": "Which light was first?"},
        {"role": "Orchestrator (thought)", "content": "Initial plan: search."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Find Marrow Head."},
        {"role": "WebSurfer", "content": "acetylene in 1929"},
        {"role": "Orchestrator (termination condition)", "content": "FINAL ANSWER: Marrow Head"}]});
    let agentchat = json!({"messages": [
        {"source": "user", "type": "TextMessage", "content": "Which light was first?"},
        {"source": "r", "type": "ToolCallRequestEvent", "content": [{"id": "c", "name": "search", "arguments": "Marrow"}]},
        {"source": "r", "type": "ToolCallExecutionEvent", "content": [{"call_id": "c", "name": "search", "content": "acetylene"}]},
        {"source": "r", "type": "TextMessage", "content": "Marrow Head."}], "stop_reason": "done"});
    let captain = json!({"question": "Which light was first?", "history": [
        {"role": "assistant", "name": "Light_Expert", "content": "You are given a task."},
        {"role": "user", "name": "Computer_terminal", "content": "exitcode: 0"}]});
    let smol = json!({"question": "Which light was first?", "manager_steps": [
        {"task": "Which light was first?", "task_images": null},
        {"step_number": 1, "model_output": "Thought: delegate", "code_action": "search_agent('x')",
         "tool_calls": [{"id": "c", "function": {"name": "python_interpreter", "arguments": "search_agent('x')"}}], "observations": "1929"}],
        "search_agent_steps": [{"task": "sub task", "task_images": null}, {"step_number": 1, "model_output": "sub output", "observations": "sub page"}]});
    let gaia = json!({"question": "Which light was first?", "augmented_question": "Here is the task: Which light was first?",
        "prediction": "Marrow Head", "intermediate_steps": ["TaskStep(task='Which light?', task_images=None)",
        "ActionStep(step_number=1, model_output='Thought: it\\'s M.', observations='acetylene', error=None)"]});
    let miro = json!({"task_id": "t", "input": {"task_description": "Which light was first?"}, "main_agent_message_history":
        {"system_prompt": "Be careful.", "message_history": [{"role": "user", "content": "Which light was first? Go."}, {"role": "assistant", "content": "Marrow Head."}]},
        "final_boxed_answer": "Marrow"});
    let tau = json!({"task_id": 3, "reward": 0.0, "info": {"task": {"instruction": "Ask about lights."}}, "traj": chat.clone()});
    let swe = json!({"trajectory": [{"action": "ls", "observation": "lights.txt", "response": "I look.", "thought": "I look."}],
        "history": [{"role": "system", "content": "SETTING"}, {"role": "user", "content": "Fix the light."}, {"role": "assistant", "content": "I look."}],
        "info": {"submission": "diff of it"}});
    let hands = json!([
        {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix the light."}, "message": "Fix the light."},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "I look."}},
        {"id": 2, "source": "agent", "observation": "run", "content": "lights.txt"},
        {"id": 3, "source": "agent", "action": "finish", "args": {"thought": "Fixed."}, "message": "Fixed."}]);
    let atif = json!({"schema_version": "ATIF-v1.5", "session_id": "s", "steps": [
        {"step_id": 1, "source": "user", "message": "Fix the light."},
        {"step_id": 2, "source": "agent", "message": "I edit.", "tool_calls": [{"tool_call_id": "c", "function_name": "edit", "arguments": {"path": "a"}}],
         "observation": {"results": [{"source_call_id": "c", "content": "edited"}]}}]});
    let rx = json!({"trajectory_id": "x", "instruction": "Cheapest lamp?", "steps": [
        {"index": 1, "substeps": [{"sub_index": 1, "role": "Coordinator", "content": "Split the task."}]},
        {"index": 2, "substeps": [{"sub_index": 1, "role": "Executor", "content": "lamp A"}, {"sub_index": 2, "role": "Coordinator", "content": "Lamp A."}]}]});
    let generic = json!({"conversation": [{"speaker": "Ann", "text": "Which light was first?"}, {"speaker": "Bob", "text": "Marrow Head."}]});
    let q = "Which light was first?";
    vec![
        ("openai-chat", vec![chat.clone()], q, 6),
        ("openai-chat", chat.as_array().cloned().unwrap_or_default(), q, 6),
        (
            "openai-chat",
            vec![json!({"messages": chat, "question": "Asked elsewhere?"})],
            "Asked elsewhere?",
            6,
        ),
        (
            "anthropic-messages",
            vec![json!({"system": "Be careful.", "messages": blocks.clone()})],
            q,
            7,
        ),
        ("anthropic-messages", vec![blocks], q, 6),
        ("openai-responses", vec![items], q, 5),
        ("claude-code", claude, q, 7),
        ("codex", codex, q, 4),
        ("codex", exec, "", 4),
        ("magentic-one", vec![magentic.clone()], q, 5),
        ("magentic-one", vec![magentic["history"].clone()], q, 5),
        ("agentchat", vec![agentchat], q, 5),
        ("captain-agent", vec![captain], q, 2),
        ("smolagents", vec![smol], q, 7),
        ("smolagents", vec![gaia], q, 5),
        ("miroflow", vec![miro], q, 3),
        ("tau-bench", vec![json!([tau])], "Ask about lights.", 6),
        ("swe-agent", vec![swe], "Fix the light.", 6),
        ("openhands", vec![hands], "Fix the light.", 5),
        ("atif", vec![atif], "Fix the light.", 4),
        ("agentrx", vec![rx], "Cheapest lamp?", 3),
        ("generic", vec![generic], "", 2),
    ]
}

fn text_of(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn read(text: &str, options: ReadOptions) -> Vec<Record> {
    Records::new(text.as_bytes(), "log.json", options).collect()
}

/// Strings of a log that are names, ids and settings rather than something said or done.
fn texts(value: &Value, found: &mut Vec<String>) {
    const NAMES: [&str; 33] = [
        "role",
        "type",
        "id",
        "name",
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "uuid",
        "sessionId",
        "session_id",
        "object",
        "thread_id",
        "source",
        "source_call_id",
        "task_id",
        "trajectory_id",
        "schema_version",
        "function_name",
        "action",
        "observation",
        "stop_reason_",
        "question",
        "instruction",
        "info_",
        "intermediate_steps",
        "code_action",
        "thought",
        "task_description",
        "isSidechain",
        "speaker",
        "last_agent_message",
        "prediction",
        "step_id",
    ];
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| texts(value, found)),
        Value::Object(fields) => {
            let said = fields
                .iter()
                .filter(|(key, value)| !NAMES.contains(&key.as_str()) || !value.is_string());
            said.filter(|(key, _)| *key != "intermediate_steps")
                .for_each(|(_, value)| texts(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn every_format_is_known_by_its_content_and_loses_nothing() {
    for (format, lines, question, turns) in fixtures() {
        let text = text_of(&lines);
        let records = read(
            &text,
            ReadOptions {
                segmenter: Segmenter::PerTurn,
                ..ReadOptions::default()
            },
        );
        assert_eq!(records.len(), 1, "{format}: {text}");
        let loaded = records[0].outcome.as_ref().unwrap();
        assert_eq!(
            loaded.log,
            Some(LogInfo {
                format: format.to_owned(),
                turns
            }),
            "{text}\n{:#?}",
            loaded.run.spans()
        );
        assert_eq!(loaded.run.question(), question, "{format}");
        let all: Vec<&str> = loaded.run.spans().iter().map(|span| span.text.as_str()).collect();
        let all = all.join("\n");
        let mut wanted = Vec::new();
        lines.iter().for_each(|line| texts(line, &mut wanted));
        for piece in wanted.iter().filter(|piece| *piece != "a duplicate line") {
            assert!(all.contains(piece.as_str()), "{format} lost {piece:?} in\n{all}");
        }
        let steps: Vec<_> = loaded.run.spans().iter().map(|span| span.raw_start_step).collect();
        assert!(
            steps.is_sorted() && steps.iter().all(Option::is_some),
            "{format}: {steps:?}"
        );
    }
}

#[test]
fn every_format_can_be_forced_on_anything() {
    for (_, lines, _, _) in fixtures() {
        for (name, _) in formats() {
            let records = read(
                &text_of(&lines),
                ReadOptions {
                    from: Some(name.to_owned()),
                    ..ReadOptions::default()
                },
            );
            assert!(!records.is_empty(), "{name}");
        }
    }
}

#[test]
fn a_cut_log_keeps_what_is_whole_and_says_so() {
    let (_, chat, _, _) = fixtures().swap_remove(2);
    let text = text_of(&chat);
    let cut = &text[..text.len() - 30];
    let records = read(cut, ReadOptions::default());
    let loaded = records[0].outcome.as_ref().unwrap();
    assert!(loaded.run.spans().iter().any(|span| span.text.contains("acetylene")));
    assert!(
        loaded
            .warnings
            .iter()
            .any(|warning| warning.code == WarningCode::DroppedInput),
        "{:?}",
        loaded.warnings
    );

    let (_, mut lines, _, turns) = fixtures().swap_remove(6);
    let first = lines.remove(0);
    let text = format!("{first}\n{{\"uuid\": \"torn\nnot json\n{}", text_of(&lines));
    let records = read(&text, ReadOptions::default());
    let loaded = records[0].outcome.as_ref().unwrap();
    assert_eq!(loaded.log.as_ref().map(|log| log.turns), Some(turns));
    let dropped = loaded
        .warnings
        .iter()
        .find(|warning| warning.code == WarningCode::DroppedInput)
        .unwrap();
    assert!(
        dropped.message.contains("2 of its lines") && dropped.message.contains("line 2"),
        "{}",
        dropped.message
    );
}

#[test]
fn several_runs_of_a_file_stay_apart() {
    let (_, tau, _, _) = fixtures().swap_remove(16);
    let one = tau[0][0].clone();
    let mut two = one.clone();
    two["task_id"] = json!(4);
    for text in [
        json!([one, two]).to_string(),
        format!("{one}\n{two}\n"),
        json!({"results": [one, two]}).to_string(),
    ] {
        let ids: Vec<String> = read(&text, ReadOptions::default())
            .into_iter()
            .map(|record| record.outcome.unwrap().run.case_id().to_owned())
            .collect();
        assert_eq!(ids, ["3", "4"], "{text}");
    }
}

#[test]
fn images_become_marks_and_secrets_can_be_masked() {
    let blob = "A".repeat(4000);
    let log = json!([{"role": "user", "content": [{"type": "text", "text": "see, jo@example.org"},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{blob}")}}]},
        {"role": "assistant", "content": "a chart"}]);
    let records = read(
        &log.to_string(),
        ReadOptions {
            redact: true,
            ..ReadOptions::default()
        },
    );
    let loaded = records[0].outcome.as_ref().unwrap();
    let text = &loaded.run.spans()[0].text;
    assert!(
        text.contains("[image omitted: image/png, 3000 bytes]") && text.contains("[email]"),
        "{text}"
    );
    assert!(!text.contains("jo@") && !loaded.run.question().contains("jo@"));
    assert!(
        loaded
            .warnings
            .iter()
            .any(|warning| warning.code == WarningCode::OmittedImage && warning.span_id.is_some())
    );
}

#[test]
fn unknown_json_with_texts_is_read_and_said() {
    let log = json!({"meta": {"v": 1}, "stuff": [{"note": "first thing done"}, {"note": "second thing done"}]});
    let records = read(&log.to_string(), ReadOptions::default());
    let loaded = records[0].outcome.as_ref().unwrap();
    assert!(
        loaded
            .warnings
            .iter()
            .any(|warning| warning.code == WarningCode::UncertainFormat)
    );
    assert!(
        loaded
            .run
            .spans()
            .iter()
            .any(|span| span.text.contains("second thing done"))
    );
}

proptest::proptest! {
    #[test]
    fn mangled_logs_never_panic(which in 0_usize..22, at in 0_usize..2000, byte: u8) {
        let (_, lines, _, _) = fixtures().swap_remove(which);
        let mut bytes = text_of(&lines).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let all: Vec<Record> = Records::new(&bytes[..], "x", ReadOptions::default()).collect();
        assert!(!all.is_empty());
        bytes.truncate(at);
        assert!(Records::new(&bytes[..], "x", ReadOptions::default()).count() > 0);
    }
}
