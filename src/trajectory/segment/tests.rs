use super::*;

/// Turns as `(role, agent, tool, text)`, each a unit.
fn turns(list: &[(Role, &str, &str, &str)]) -> Vec<Turn> {
    let name = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    list.iter()
        .enumerate()
        .map(|(at, (role, agent, tool, text))| Turn {
            role: *role,
            agent: name(agent),
            tool: name(tool),
            time: None,
            step: at,
            last_step: at,
            unit: at,
            depth: 0,
            head: None,
            text: (*text).to_owned(),
            omitted: Vec::new(),
        })
        .collect()
}

fn cut(turns: Vec<Turn>, segmenter: Segmenter) -> Vec<Span> {
    let mut cutter = Cutter::new(segmenter);
    let mut spans = Vec::new();
    for unit in units(turns) {
        spans.append(&mut cutter.push(unit));
    }
    spans.append(&mut cutter.finish());
    spans.into_iter().map(|(span, _)| span).collect()
}

fn starts(list: &[(Role, &str, &str, &str)]) -> Vec<i64> {
    let spans = cut(turns(list), Segmenter::Rules);
    spans.iter().filter_map(|span| span.raw_start_step).collect()
}

fn ledger(instruction: &str, who: &str, satisfied: bool) -> String {
    let answer = |value: serde_json::Value| serde_json::json!({"reason": "", "answer": value});
    let ledger = serde_json::json!({"is_request_satisfied": answer(satisfied.into()), "is_in_loop": answer(false.into()),
        "is_progress_being_made": answer(true.into()), "next_speaker": answer(who.into()),
        "instruction_or_question": answer(instruction.into())});
    format!("Updated Ledger:\n{ledger}")
}

#[test]
fn a_service_dialogue_is_cut_at_requests_not_at_answers() {
    use Role::{Agent, System, ToolCall, ToolResult, User};
    let run = [
        (
            System,
            "",
            "",
            "# Library desk policy. Lend, renew and reserve books for registered readers.",
        ),
        (User, "", "", "I want to renew a book."),
        (Agent, "", "", "Gladly. Could you tell me your card number?"),
        (User, "", "", "It is 4711."),
        (ToolCall, "", "find_reader", r#"{"card": "4711"}"#),
        (ToolResult, "", "find_reader", "reader_mara, loans: L1, L2"),
        (ToolCall, "", "get_loan", r#"{"loan": "L1"}"#),
        (ToolResult, "", "get_loan", "L1: A History of Lamps, due Friday"),
        (Agent, "", "", "You have A History of Lamps. Shall I renew it?"),
        (User, "", "", "Yes please."),
        (ToolCall, "", "renew_loan", r#"{"loan": "L1"}"#),
        (ToolResult, "", "renew_loan", "renewed"),
        (
            Agent,
            "",
            "",
            "It is renewed for two weeks. Tell me if there is anything else.",
        ),
        (User, "", "", "Also reserve the atlas of lighthouses for me."),
        (ToolCall, "", "reserve", r#"{"title": "atlas of lighthouses"}"#),
        (ToolResult, "", "reserve", "reserved"),
        (Agent, "", "", "Reserved. Tell me if there is anything else."),
        (User, "", "", "Thanks, bye."),
    ];
    assert_eq!(starts(&run), [0, 1, 6, 10, 13]);
}

#[test]
fn an_orchestrators_retries_stay_together_and_new_targets_do_not() {
    use Role::{Agent, Final, Plan, User};
    let first = ledger("Find the year in which Kestrel Point was electrified", "Surfer", false);
    let retry = ledger(
        "Find the year in which Kestrel Point was electrified, once more",
        "Surfer",
        false,
    );
    let second = ledger(
        "Look up ferry timetables between the two harbours on Sundays",
        "Surfer",
        false,
    );
    let other = ledger(
        "Look up ferry timetables between the two harbours on Sundays",
        "Coder",
        false,
    );
    let done = ledger("The ferry is at noon", "Coder", true);
    let run = [
        (User, "", "", "When did the lights change and when does the ferry go?"),
        (Plan, "Orchestrator (thought)", "", "Initial plan: lights, then ferry."),
        (Plan, "Orchestrator (thought)", "", first.as_str()),
        (
            Agent,
            "Surfer",
            "",
            "I typed 'Kestrel Point'. The page shows the harbour ledger of 1931 and more.",
        ),
        (Plan, "Orchestrator (thought)", "", retry.as_str()),
        (
            Agent,
            "Surfer",
            "",
            "I clicked the ledger. It says the light was converted in May 1931.",
        ),
        (Plan, "Orchestrator (thought)", "", second.as_str()),
        (
            Agent,
            "Surfer",
            "",
            "The timetable page cannot be opened at the moment, it says maintenance.",
        ),
        (Plan, "Orchestrator (thought)", "", other.as_str()),
        (
            Agent,
            "Coder",
            "",
            "From the printed table I computed that it goes at noon on Sundays.",
        ),
        (Plan, "Orchestrator (thought)", "", done.as_str()),
        (
            Final,
            "Orchestrator (termination condition)",
            "",
            "FINAL ANSWER: 1931, noon",
        ),
    ];
    assert_eq!(starts(&run), [0, 2, 6, 8, 10]);
}

#[test]
fn a_group_chat_is_cut_where_another_expert_takes_over() {
    use Role::{Agent, ToolResult};
    let run = [
        (
            Agent,
            "Chart_Expert",
            "",
            "You are given a task: say which light was electrified first, and verify it.",
        ),
        (
            Agent,
            "Search_Expert",
            "",
            "Let me search for it.\n```python\nsearch('Kestrel Point light electrified')\n```",
        ),
        (
            ToolResult,
            "Computer_terminal",
            "",
            "exitcode: 1 (execution failed) Traceback: no module named search",
        ),
        (
            Agent,
            "Search_Expert",
            "",
            "The module is missing, so I install it first.\n```sh\npip install search\n```",
        ),
        (
            ToolResult,
            "Computer_terminal",
            "",
            "exitcode: 0, Kestrel Point was converted in 1931",
        ),
        (
            Agent,
            "Verify_Expert",
            "",
            "I compare 1931 with the gazetteer, which gives no year for Marrow Head at all.",
        ),
        (Agent, "Verify_Expert", "", "TERMINATE"),
    ];
    assert_eq!(starts(&run), [0, 1, 5]);
}

#[test]
fn scripts_without_spaces_are_told_apart_too() {
    use Role::{ToolCall, ToolResult, User};
    let run = [
        (User, "", "", "哪座灯塔先通电?"),
        (ToolCall, "", "search", "红隼角灯塔 通电 年份"),
        (ToolResult, "", "search", "红隼角灯塔于一九三一年五月改用电灯"),
        (ToolCall, "", "search", "红隼角灯塔 电灯 一九三一年"),
        (ToolResult, "", "search", "没有结果"),
        (ToolCall, "", "search", "渡轮时刻表 星期日 港口"),
        (ToolResult, "", "search", "中午开船"),
    ];
    assert_eq!(starts(&run), [0, 5]);
}

#[test]
fn units_are_whole_and_text_is_neither_lost_nor_doubled() {
    use Role::{Agent, ToolCall};
    let mut two = turns(&[(Agent, "a", "", "I look."), (ToolCall, "a", "ls", ".")]);
    two[1].unit = 0;
    let spans = cut(two, Segmenter::PerTurn);
    assert_eq!(spans.len(), 1);
    assert_eq!(spans[0].text, "[agent a]\nI look.\n\n[tool call a ls]\n.");

    let long = format!("{}\n", "a line of a very long page. ".repeat(4)).repeat(10_000);
    let spans = cut(
        turns(&[(Agent, "", "", "short"), (Agent, "", "", &long)]),
        Segmenter::Rules,
    );
    assert!(
        spans.len() > 2 && spans.iter().all(|span| span.text.len() < 450_000),
        "{}",
        spans.len()
    );
    let lines: usize = spans.iter().map(|span| span.text.matches("a line of").count()).sum();
    assert_eq!(lines, 40_000);
}

#[test]
fn spans_cut_anew_keep_their_text() {
    let span = |at: usize, agent: &str, text: &str| Span {
        id: format!("x{at}"),
        text: text.to_owned(),
        raw_start_step: Some(at as i64),
        raw_end_step: Some(at as i64),
        local: LocalFields {
            agent: Some(agent.to_owned()),
            ..LocalFields::default()
        },
    };
    let spans = anew(
        vec![
            span(0, "system", "[system]\npolicy"),
            span(1, "user", "[user]\nrenew my book"),
            span(
                2,
                "assistant",
                "[assistant]\n<tool_call find_reader({\"card\": \"4711\"})>",
            ),
            span(3, "tool", "[tool]\n<tool_result find_reader>\nmara"),
        ],
        Segmenter::Rules,
    );
    let texts: Vec<&str> = spans.iter().map(|span| span.text.as_str()).collect();
    assert_eq!(texts[0], "[system]\npolicy");
    assert!(
        texts[1].starts_with("[user]\nrenew my book\n\n[assistant]\n<tool_call find_reader("),
        "{}",
        texts[1]
    );
    assert_eq!((spans[1].raw_start_step, spans[1].raw_end_step), (Some(1), Some(3)));
}
