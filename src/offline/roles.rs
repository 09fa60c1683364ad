//! Whose words they are: the agent's own, a tool's, the user's, a call, code. Decided by the span's
//! local fields, by header lines such as `[assistant]` in merged spans, by tags, and by how a line
//! begins; never by position, except that a run's opening words which repeat the task are the task.

use std::collections::HashSet;

use crate::trajectory::{Span, Trajectory};

/// Whose words a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The agent, speaking.
    Agent,
    /// The agent, inside an answer tag.
    Answer,
    /// The agent, thinking aloud inside a tag: deliberation, not a statement.
    Thinking,
    /// A call, an instruction to another agent, or code: what is asked for, not what is so.
    Call,
    /// Code inside the agent's own words.
    Code,
    /// What the agent was shown.
    Tool,
    /// The user or the task.
    User,
    /// Standing instructions.
    System,
}

/// A piece of one span's text with one role.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Position of the span.
    pub(super) span: usize,
    /// First byte.
    pub(super) start: usize,
    /// One past the last.
    pub(super) end: usize,
    /// Whose words.
    pub(super) role: Role,
}

/// Header names that mean a role wherever they stand alone in brackets on a line.
const KNOWN: &[&str] = &[
    "assistant",
    "agent",
    "ai",
    "model",
    "tool",
    "user",
    "human",
    "system",
    "developer",
    "observation",
    "environment",
    "function",
    "tool_result",
    "tool result",
    "tool_call",
    "tool call",
    "result",
    "output",
    "thought",
    "action",
    "customer",
];

/// Parts of a name that mark what a tool or an environment says.
const TOOLISH: &[&str] = &[
    "tool",
    "observation",
    "environment",
    "terminal",
    "surfer",
    "executor",
    "interpreter",
    "function",
    "result",
    "output",
    "sandbox",
    "browser",
    "retriever",
    "search_engine",
];

fn role_of_name(name: &str) -> Role {
    let lower = name.trim().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if lower.contains("thought") || lower.contains("reasoning") {
        // An orchestrator's notes to itself.
        Role::Thinking
    } else if lower.contains("->") || has(&["tool_call", "tool call", "action"]) {
        Role::Call
    } else if has(&["system", "developer"]) {
        Role::System
    } else if matches!(lower.as_str(), "user" | "human" | "customer") || has(&["user_proxy", "userproxy"]) {
        Role::User
    } else if has(TOOLISH) {
        Role::Tool
    } else {
        Role::Agent
    }
}

fn header(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix('[')?.strip_suffix(']')?;
    (!name.is_empty() && name.len() <= 80 && !name.contains(['[', ']', '"', '{'])).then_some(name)
}

/// Names that head turns in this run: known roles, the spans' own agents, and names in brackets that
/// open a span.
fn header_names(run: &Trajectory) -> HashSet<String> {
    let mut names: HashSet<String> = KNOWN.iter().map(|name| (*name).to_owned()).collect();
    for span in run.spans() {
        if let Some(agent) = &span.local.agent {
            names.extend(agent.split(" + ").map(|part| part.trim().to_lowercase()));
        }
        if let Some(name) = span.text.lines().next().and_then(header)
            && name.chars().next().is_some_and(char::is_alphabetic)
        {
            names.insert(name.to_lowercase());
        }
    }
    names
}

/// How a line of an unmarked span begins, and what that makes of it and of the lines after it.
const OPENINGS: &[(&str, Role)] = &[
    ("result:", Role::Tool),
    ("results:", Role::Tool),
    ("search result", Role::Tool),
    ("tool result", Role::Tool),
    ("tool output", Role::Tool),
    ("tool:", Role::Tool),
    ("observation:", Role::Tool),
    ("output:", Role::Tool),
    ("response:", Role::Tool),
    ("returned:", Role::Tool),
    ("fetched:", Role::Tool),
    ("page:", Role::Tool),
    ("document:", Role::Tool),
    ("error:", Role::Tool),
    ("traceback", Role::Tool),
    ("exitcode:", Role::Tool),
    ("http 4", Role::Tool),
    ("http 5", Role::Tool),
    ("<tool_result", Role::Tool),
    ("<tool_response", Role::Tool),
    ("<observation", Role::Tool),
    ("<search_result", Role::Tool),
    ("{\"result", Role::Tool),
    ("{\"error", Role::Tool),
    ("[{\"", Role::Tool),
    ("ergebnis:", Role::Tool),
    ("ergebnisse:", Role::Tool),
    ("resultado:", Role::Tool),
    ("resultados:", Role::Tool),
    ("résultat", Role::Tool),
    ("结果：", Role::Tool),
    ("搜索结果：", Role::Tool),
    ("工具：", Role::Tool),
    ("user:", Role::User),
    ("human:", Role::User),
    ("question:", Role::User),
    ("task:", Role::User),
    ("action:", Role::Call),
    ("action input:", Role::Call),
    ("plan:", Role::Call),
    ("tool call", Role::Call),
    ("calling ", Role::Call),
    ("thought:", Role::Agent),
    ("assistant:", Role::Agent),
    ("agent:", Role::Agent),
    ("final answer", Role::Agent),
    ("answer:", Role::Agent),
];

fn opening(line: &str) -> Option<Role> {
    let head = line.trim_start();
    let lower: String = head.chars().take(24).flat_map(char::to_lowercase).collect();
    let role = OPENINGS
        .iter()
        .find_map(|(words, role)| lower.starts_with(words).then_some(*role));
    role.or_else(|| is_call(head).then_some(Role::Call))
}

/// `search("…")`, `open_page(3)`: a name and brackets that fill the line.
fn is_call(line: &str) -> bool {
    let line = line.trim();
    let Some(bracket) = line.find('(') else { return false };
    let name = line.get(..bracket).unwrap_or("");
    line.ends_with([')', ';'])
        && !name.is_empty()
        && name.len() <= 40
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

/// The pieces of the whole run, in order.
pub(super) fn segments(run: &Trajectory) -> Vec<Segment> {
    let names = header_names(run);
    let mut out = Vec::new();
    for (position, span) in run.spans().iter().enumerate() {
        let mut reader = Reader {
            span: position,
            text: &span.text,
            start: 0,
            role: Role::Agent,
            headed: false,
            code: false,
            out: &mut out,
        };
        reader.read(span, &names);
    }
    task_words(run, &mut out);
    out
}

/// The first piece of a run that repeats the task is the task, whoever is named as its author.
fn task_words(run: &Trajectory, segments: &mut [Segment]) {
    let opening: String = run.question().trim().chars().take(60).collect();
    let Some(first) = segments.iter_mut().find(|segment| segment.role != Role::System) else {
        return;
    };
    let text = run
        .spans()
        .get(first.span)
        .and_then(|span| span.text.get(first.start..first.end));
    let repeats = opening.chars().count() >= 12 && text.is_some_and(|text| text.contains(opening.as_str()));
    let told = text.is_some_and(|text| text.trim_start().starts_with("You are given"));
    if first.role == Role::Agent && (repeats || told) && first.span == 0 {
        first.role = Role::User;
    }
}

struct Reader<'run, 'out> {
    span: usize,
    text: &'run str,
    start: usize,
    role: Role,
    /// A header or a local field decided the role; line openings do not overrule a tool then.
    headed: bool,
    code: bool,
    out: &'out mut Vec<Segment>,
}

impl Reader<'_, '_> {
    fn read(&mut self, span: &Span, names: &HashSet<String>) {
        let merged = span.local.agent.as_ref().is_some_and(|agent| agent.contains(" + "));
        if !merged {
            let named = span.local.agent.as_deref().map(role_of_name);
            self.role = match (span.local.observation, named) {
                (Some(true), Some(role @ (Role::User | Role::System))) => role,
                (Some(true), _) => Role::Tool,
                (_, Some(role)) => role,
                (_, None) => Role::Agent,
            };
            self.headed = span.local.observation.is_some() || named.is_some();
        }
        let mut at = 0;
        while at < self.text.len() {
            let rest = self.text.get(at..).unwrap_or("");
            let len = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |newline| newline + 1);
            let line = rest.get(..len).unwrap_or(rest);
            self.line(at, line, names);
            at += len.max(1);
        }
        self.close(self.text.len());
    }

    fn line(&mut self, at: usize, line: &str, names: &HashSet<String>) {
        if line.starts_with('[')
            && let Some(name) = header(line)
            && names.contains(&name.to_lowercase())
        {
            self.turn(at, role_of_name(name), at + line.len());
            self.headed = true;
            self.code = false;
            return;
        }
        if self.role == Role::Tool && self.headed {
            return;
        }
        if line.trim_start().starts_with("```") && matches!(self.role, Role::Agent | Role::Code) {
            self.code = !self.code;
            let role = if self.code { Role::Code } else { Role::Agent };
            let from = if self.code { at } else { at + line.len() };
            self.turn(from, role, from);
            return;
        }
        if self.code {
            return;
        }
        if let Some(role) = opening(line)
            && (!self.headed || role == Role::Call)
        {
            self.turn(at, role, at);
            if self.headed {
                // A call is one line of a turn; the turn goes on after it.
                self.turn(at + line.len(), Role::Agent, at + line.len());
            }
        } else if self.role == Role::Call && !self.headed && at == 0 {
            self.role = Role::Agent;
        }
        if matches!(self.role, Role::Agent | Role::Thinking | Role::Answer | Role::Call) {
            self.tags(at, line);
        }
    }

    /// Tags inside the agent's words.
    fn tags(&mut self, at: usize, line: &str) {
        let mut from = 0;
        while let Some(found) = line.get(from..).and_then(|rest| rest.find('<')) {
            let open = from + found;
            let rest = line.get(open..).unwrap_or("");
            let end = rest.find('>').map_or(rest.len(), |close| close + 1);
            let here = at + open;
            let tag = rest.get(..end).unwrap_or(rest);
            let is = |name: &str| tag.starts_with(name);
            if is("<think") {
                self.turn(here, Role::Thinking, here + end);
            } else if is("</think")
                || is("</tool_call")
                || is("</answer")
                || is("</tool_response")
                || is("</observation")
            {
                self.turn(here, Role::Agent, here + end);
            } else if is("<answer") {
                self.turn(here, Role::Answer, here + end);
            } else if is("<tool_response") || is("<observation") {
                self.turn(here, Role::Tool, here + end);
            } else if is("<tool_call ") || is("<function") {
                // The call's arguments fill the rest of the line.
                self.turn(here, Role::Call, here);
                self.turn(at + line.len(), Role::Agent, at + line.len());
                return;
            } else if is("<tool_call") {
                self.turn(here, Role::Call, here + end);
            }
            from = open + end.max(1);
        }
    }

    /// Ends the open piece at `end` and opens one with `role` at `next`.
    fn turn(&mut self, end: usize, role: Role, next: usize) {
        self.close(end);
        self.role = role;
        self.start = next.min(self.text.len());
    }

    fn close(&mut self, end: usize) {
        if end > self.start {
            let blank = self.text.get(self.start..end).is_none_or(|text| text.trim().is_empty());
            if !blank {
                self.out.push(Segment {
                    span: self.span,
                    start: self.start,
                    end,
                    role: self.role,
                });
            }
        }
        self.start = end.max(self.start);
    }
}
