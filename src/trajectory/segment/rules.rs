//! The rules: does this unit begin a new local objective?
//!
//! Each rule looks at what the unit adds to the open span: another speaker, another tool, an
//! instruction with other targets, words that were not there. The numbers were set on hand-cut
//! runs of three kinds and lie on flat ground: a quarter more or less changes little.

use std::collections::HashSet;

use super::words::words;
use crate::trajectory::turns::{Role, Turn};

/// Share of an instruction's words that neither the open span nor its instruction had.
const NEW_IN_SPAN: f64 = 0.12;
/// Share of an instruction's words that the instruction before did not have.
const NEW_IN_ORDER: f64 = 0.5;
/// At most so much of an instruction is new when it is the old one with targets struck off.
const SHRUNK: f64 = 0.19;
/// An instruction given in a loop that differs by this share is another way to go about it.
const LOOP_CHANGE: f64 = 0.3;
/// Share of new words in what an agent says and asks of a tool that makes it another target.
const NEW_TARGET: f64 = 0.6;
/// Texts up to this many characters are notices, not turns of substance.
const NOTICE: usize = 60;
/// A hand-over ("I will take over") is talk of at most this many characters.
const HAND_OVER: usize = 400;
/// A question this near the end of an agent's turn is waiting for its answer, in characters.
const ASKED: usize = 250;

/// What the rules remember of the run and of the open span.
#[derive(Default)]
pub(super) struct State {
    /// Number of the open span, 0 for the first.
    span: usize,
    open: Open,
    /// Words of the span before.
    before: HashSet<u64>,
    last: Option<Unit>,
    /// Tool results seen in the run.
    results: usize,
    /// A tool that acts, rather than looks something up, was called in the run.
    acted: bool,
    /// The run has user turns beyond the first, or tool calls: it is a dialogue.
    dialogue: bool,
}

/// The open span.
#[derive(Default)]
struct Open {
    units: usize,
    words: HashSet<u64>,
    order: Option<Order>,
    satisfied: bool,
    planned: bool,
    only_system: bool,
    only_task: bool,
    tools: HashSet<String>,
    calls: usize,
    speaker: Option<String>,
    seen: String,
}

/// What an orchestrator's ledger tells to do.
struct Order {
    text: String,
    words: HashSet<u64>,
    who: Option<String>,
    satisfied: bool,
    looping: bool,
    progress: bool,
}

/// A unit as the rules see it.
struct Unit {
    kind: Role,
    /// Role of its last turn.
    ends: Role,
    speaker: Option<String>,
    said: String,
    tool: Option<String>,
    arguments: String,
    depth: usize,
}

impl Unit {
    fn of(turns: &[Turn]) -> Self {
        let kinds = [
            Role::ToolCall,
            Role::User,
            Role::Plan,
            Role::Final,
            Role::Agent,
            Role::ToolResult,
            Role::Thinking,
        ];
        let has = |role: &Role| turns.iter().any(|turn| turn.role == *role);
        let said = turns
            .iter()
            .filter(|turn| !matches!(turn.role, Role::ToolCall | Role::ToolResult));
        let calls = || turns.iter().filter(|turn| turn.role == Role::ToolCall);
        Self {
            kind: kinds.into_iter().find(has).unwrap_or(Role::System),
            ends: turns.last().map_or(Role::System, |turn| turn.role),
            speaker: turns.iter().find_map(|turn| turn.agent.clone()),
            said: said.map(|turn| turn.text.as_str()).collect::<Vec<_>>().join("\n"),
            tool: calls().find_map(|turn| turn.tool.clone()),
            arguments: calls().map(|turn| arguments(&turn.text)).collect::<Vec<_>>().join("\n"),
            depth: turns.first().map_or(0, |turn| turn.depth),
        }
    }

    /// Talk of substance, as against "TERMINATE" or "Next speaker X".
    fn has_substance(&self) -> bool {
        self.said.trim().chars().nth(NOTICE).is_some()
    }

    /// Text that runs code or shows a page: an action, whatever it is written as.
    fn acts(&self) -> bool {
        self.tool.is_some() || self.said.contains("```") || self.shows_page()
    }

    /// A browser's view, as AutoGen's surfers give it back under their own name.
    fn shows_page(&self) -> bool {
        self.said.trim_start().starts_with("Address: ")
    }
}

impl State {
    /// Takes the next unit; `true` when a span begins with it, as it does when the open one is
    /// full.
    pub(super) fn cuts_before(&mut self, turns: &[Turn], full: bool) -> bool {
        let unit = Unit::of(turns);
        let order = (unit.kind == Role::Plan).then(|| ledger(&unit.said)).flatten();
        let cut = self.open.units > 0 && (full || self.decide(&unit, order.as_ref()));
        if cut {
            self.span += 1;
            self.before = std::mem::take(&mut self.open).words;
        }
        self.take(unit, order, turns);
        cut
    }

    fn decide(&mut self, unit: &Unit, order: Option<&Order>) -> bool {
        let Some(last) = &self.last else { return false };
        if self.open.only_system && unit.kind != Role::System {
            return true;
        }
        if unit.depth != last.depth {
            return true;
        }
        match unit.kind {
            Role::Plan => match order {
                Some(order) => self.new_order(order),
                None => is_plan(&unit.said) && !self.open.only_task && !self.open.planned,
            },
            Role::Final => {
                let goes_on = last.ends == Role::Agent && unit.speaker == last.speaker;
                !(self.open.satisfied || goes_on)
            }
            Role::User => last.kind != Role::User && !asks(&last.said),
            Role::ToolCall => self.new_target(unit, last),
            Role::Agent => self.new_speaker(unit, last),
            // A summary at compaction begins a new part; a notice does not.
            Role::System => last.kind != Role::System && unit.has_substance() && !last.acts(),
            Role::ToolResult | Role::Thinking => false,
        }
    }

    /// An orchestrator's new instruction: another target, a shorter list of targets, another agent.
    fn new_order(&self, order: &Order) -> bool {
        let Some(old) = &self.open.order else { return true };
        if order.satisfied || order.who != old.who {
            return true;
        }
        if self.follows_up(&order.text, &old.text) {
            return false;
        }
        let new = order.words.difference(&old.words).count();
        let gone = old.words.difference(&order.words).count();
        let unseen = order
            .words
            .difference(&old.words)
            .filter(|word| !self.open.words.contains(*word))
            .count();
        let share = |count: usize| count as f64 / order.words.len().max(1) as f64;
        let other = share(unseen) >= NEW_IN_SPAN && share(new) >= NEW_IN_ORDER;
        let detour = order.looping && share(new) >= LOOP_CHANGE;
        let shrunk = order.progress && share(new) <= SHRUNK && gone > 0 && order.words.len() < old.words.len();
        other || detour || shrunk
    }

    /// The instruction quotes something that the open span showed, a link to click say.
    fn follows_up(&self, new: &str, old: &str) -> bool {
        quoted(new).any(|quote| quote.chars().count() >= 12 && !old.contains(quote) && self.open.seen.contains(quote))
    }

    /// A tool call that goes for something else than the calls before.
    fn new_target(&self, unit: &Unit, last: &Unit) -> bool {
        let tool = unit.tool.as_deref().unwrap_or_default();
        if acts(tool) && !self.acted && last.kind == Role::User && self.span > 0 {
            // What was agreed is now carried out.
            return true;
        }
        if self.open.calls == 0 {
            return false;
        }
        if is_plan_tool(tool) {
            return !self.open.tools.contains(tool);
        }
        if is_thought(tool) {
            return false;
        }
        let other_tool = !self.open.tools.contains(tool);
        if self.dialogue && self.results == 1 && other_tool {
            // The first look-up found out who or what this is about; now the work begins.
            return true;
        }
        let wanted = words(&values(&unit.arguments));
        let known = |word: &u64| self.open.words.contains(word) || self.before.contains(word);
        let named = !wanted.is_empty() && wanted.iter().all(known);
        if self.dialogue {
            return other_tool && !named && last.ends == Role::ToolResult;
        }
        let mut all = words(&unit.said);
        all.extend(wanted);
        let unseen = all.iter().filter(|word| !known(word)).count();
        all.len() >= 3 && unseen as f64 >= NEW_TARGET * all.len() as f64
    }

    /// Another agent takes the floor, or the same one gives up what it tried.
    fn new_speaker(&self, unit: &Unit, last: &Unit) -> bool {
        if self.open.order.is_some() || last.kind == Role::Plan || !unit.has_substance() {
            return false;
        }
        if self.span == 0 && self.open.units == 1 && last.kind == Role::Agent {
            // The first agent turn is the task as an agent was given it; a plan belongs to it.
            return unit.acts();
        }
        let Some(speaker) = &self.open.speaker else {
            return false;
        };
        if unit.speaker.as_ref() != Some(speaker) {
            let talk = !unit.acts() && !last.acts() && last.ends == Role::Agent;
            let short = unit.said.chars().nth(HAND_OVER).is_none() && !unit.said.contains(|c: char| c.is_numeric());
            let shown = unit.shows_page() && last.ends == Role::Agent && !last.shows_page();
            return !(shown || talk && short);
        }
        let gives_up = last.kind == Role::ToolResult && self.open.seen_failure() && !unit.acts();
        unit.speaker.is_some() && (gives_up || last.shows_page() && !unit.shows_page())
    }

    fn take(&mut self, unit: Unit, order: Option<Order>, turns: &[Turn]) {
        let open = &mut self.open;
        let first = open.units == 0;
        open.only_system = (first || open.only_system) && unit.kind == Role::System;
        open.only_task = (first || open.only_task) && matches!(unit.kind, Role::System | Role::User);
        open.units += 1;
        open.calls += usize::from(unit.kind == Role::ToolCall);
        open.tools.extend(unit.tool.clone());
        if unit.kind == Role::Agent {
            open.speaker.clone_from(&unit.speaker);
        }
        for turn in turns {
            open.words.extend(words(&turn.text));
            open.seen.push_str(&turn.text);
            open.seen.push('\n');
        }
        if let Some(order) = order {
            open.satisfied |= order.satisfied;
            open.order = Some(order);
        } else {
            open.planned |= unit.kind == Role::Plan && is_plan(&unit.said);
        }
        self.results += turns.iter().filter(|turn| turn.role == Role::ToolResult).count();
        self.acted |= unit.tool.as_deref().is_some_and(acts);
        self.dialogue |= unit.kind == Role::User
            && self
                .last
                .as_ref()
                .is_some_and(|last| !matches!(last.kind, Role::System | Role::User));
        self.last = Some(unit);
    }

    /// Where the final report begins in the last span, when it should stand alone; or, when the
    /// last span is a mere closing remark of the user, nothing to be done here.
    pub(super) fn last_report(&self, open: &[Vec<Turn>]) -> Option<usize> {
        let at = open.iter().rposition(|turns| {
            let unit = Unit::of(turns);
            unit.has_substance() || !matches!(unit.kind, Role::Agent | Role::ToolResult)
        })?;
        let unit = Unit::of(open.get(at)?);
        let report =
            matches!(unit.kind, Role::Agent | Role::Final) && unit.said.chars().nth(100).is_some() && !unit.acts();
        let after_plan = at
            .checked_sub(1)
            .and_then(|before| open.get(before))
            .is_some_and(|turns| Unit::of(turns).kind == Role::Plan);
        (at > 0 && report && !after_plan && !self.dialogue && self.open.order.is_none()).then_some(at)
    }

    /// Is this unit no more than the user's goodbye?
    pub(super) fn is_closing(open: &[Vec<Turn>]) -> bool {
        match open {
            [only] => {
                let unit = Unit::of(only);
                unit.kind == Role::User && unit.said.chars().nth(200).is_none()
            }
            _ => false,
        }
    }
}

impl Open {
    /// Does the last thing shown read like a failure?
    fn seen_failure(&self) -> bool {
        const SIGNS: [&str; 7] = [
            "traceback",
            "error",
            "exitcode: 1",
            "failed",
            "exception",
            "not found",
            "captcha",
        ];
        let from = self.seen.floor_char_boundary(self.seen.len().saturating_sub(4000));
        let tail = self.seen.get(from..).unwrap_or_default().to_lowercase();
        SIGNS.iter().any(|sign| tail.contains(sign))
    }
}

/// The arguments in a call's text, also where it is written `<tool_call name(arguments)>`.
fn arguments(text: &str) -> &str {
    let call = text.split_once(super::CALL).and_then(|(_, call)| call.split_once('('));
    call.map_or(text, |(_, rest)| {
        rest.trim_end().trim_end_matches('>').trim_end_matches(')')
    })
}

/// The values in a call's arguments without the names of its parameters.
fn values(arguments: &str) -> String {
    fn collect(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) => found.push(text.clone()),
            serde_json::Value::Number(number) => found.push(number.to_string()),
            serde_json::Value::Array(list) => list.iter().for_each(|value| collect(value, found)),
            serde_json::Value::Object(fields) => fields.values().for_each(|value| collect(value, found)),
            serde_json::Value::Null | serde_json::Value::Bool(_) => {}
        }
    }
    let Ok(parsed) = serde_json::from_str(arguments) else {
        return arguments.to_owned();
    };
    let mut found = Vec::new();
    collect(&parsed, &mut found);
    found.join(" ")
}

/// The instruction in an orchestrator's ledger: JSON with `instruction_or_question`.
fn ledger(text: &str) -> Option<Order> {
    let (from, to) = (text.find('{')?, text.rfind('}')?);
    let ledger: serde_json::Value = serde_json::from_str(text.get(from..=to)?).ok()?;
    let answer = |key: &str| ledger.get(key)?.get("answer");
    let flag = |key: &str| answer(key).and_then(serde_json::Value::as_bool).unwrap_or(false);
    let text = answer("instruction_or_question")?.as_str()?.to_owned();
    Some(Order {
        words: words(&text),
        who: answer("next_speaker")
            .and_then(serde_json::Value::as_str)
            .map(str::to_owned),
        satisfied: flag("is_request_satisfied"),
        looping: flag("is_in_loop"),
        progress: flag("is_progress_being_made"),
        text,
    })
}

/// A plan names itself in its first line; other notes of a planner do not begin a span.
fn is_plan(text: &str) -> bool {
    text.lines().next().unwrap_or_default().to_lowercase().contains("plan")
}

fn is_plan_tool(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    tool.contains("todo") || tool.contains("plan")
}

fn is_thought(tool: &str) -> bool {
    tool.eq_ignore_ascii_case("think")
}

/// Does the tool change something, rather than look something up? Told by its name's verb.
fn acts(tool: &str) -> bool {
    const LOOK_UPS: [&str; 24] = [
        "get",
        "find",
        "list",
        "search",
        "read",
        "view",
        "fetch",
        "check",
        "calculate",
        "think",
        "lookup",
        "query",
        "open",
        "visit",
        "browse",
        "show",
        "look",
        "retrieve",
        "ls",
        "cat",
        "grep",
        "glob",
        "web",
        "python",
    ];
    let tool = tool.to_lowercase();
    !LOOK_UPS.iter().any(|verb| tool.starts_with(verb))
}

/// Does the text end by asking something?
fn asks(text: &str) -> bool {
    text.chars().rev().take(ASKED).any(|c| matches!(c, '?' | '？' | '؟'))
}

/// What stands between quotation marks, on one line.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    static QUOTES: std::sync::LazyLock<Option<regex::Regex>> = std::sync::LazyLock::new(|| {
        regex::Regex::new(r#"(?:^|[^\w])'([^\n]+?)'(?:[^\w]|$)|"([^"\n]+)"|“([^”\n]+)”|「([^」\n]+)」"#).ok()
    });
    let found = QUOTES.as_ref().map(|quotes| quotes.captures_iter(text));
    found
        .into_iter()
        .flatten()
        .filter_map(|quote| quote.iter().skip(1).flatten().next().map(|part| part.as_str()))
}
