//! What the log formats share: the trait, the log they fill, and reading one message.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::text;
use crate::trajectory::turns::{Role, Turn};

/// A log format.
pub(crate) trait Format: Sync {
    /// Its name for `--from`.
    fn name(&self) -> &'static str;
    /// What it is, in a line.
    fn about(&self) -> &'static str;
    /// How surely this document is of the format, from 0 (not) to 100.
    fn score(&self, doc: &Value) -> u8;
    /// Fills the log from one document.
    fn read(&self, doc: &Value, log: &mut Log);
    /// For formats that write an event a line: how surely this line is one.
    fn line_score(&self, _line: &Value) -> u8 {
        0
    }
    /// For formats that write an event a line: a reader of its lines.
    fn events(&self) -> Option<Box<dyn Events>> {
        None
    }
}

/// Reads a log that comes an event at a time.
pub(crate) trait Events {
    /// Takes event number `step` (0-based).
    fn event(&mut self, event: &Value, step: usize, log: &mut Log);
}

/// A run as it is read from a log.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) id: Option<String>,
    pub(crate) question: Option<String>,
    pub(crate) turns: Vec<Turn>,
    /// Things to warn about.
    pub(crate) notes: Vec<String>,
    /// Depth of the turns that come next.
    pub(crate) depth: usize,
    /// Agent of the turns that come next, when a message names none.
    pub(crate) agent: Option<String>,
    /// Tool names by call id.
    calls: HashMap<String, String>,
    /// Texts that would stand twice, by hash.
    seen: HashSet<u64>,
    unit: usize,
    step: usize,
    time: Option<String>,
}

impl Log {
    /// Begins a raw step.
    pub(crate) fn step(&mut self, step: usize, time: Option<&Value>) {
        self.unit += 1;
        self.same_unit(step, time);
    }

    /// Begins a raw step that belongs to the message before.
    pub(crate) fn same_unit(&mut self, step: usize, time: Option<&Value>) {
        self.step = step;
        self.time = time.and_then(scalar);
    }

    /// Adds a turn; an empty text adds none.
    pub(crate) fn say(&mut self, role: Role, agent: Option<&str>, value: &Value) {
        let mut omitted = Vec::new();
        let text = text::of_value(value, &mut omitted);
        self.push(role, agent, None, text, omitted);
    }

    /// Adds a turn with this text; an empty text adds none.
    pub(crate) fn say_str(&mut self, role: Role, agent: Option<&str>, text: &str) {
        let mut omitted = Vec::new();
        let text = text::of_str(text, &mut omitted);
        self.push(role, agent, None, text, omitted);
    }

    /// The same, unless this very text was said through here before.
    pub(crate) fn say_once(&mut self, role: Role, agent: Option<&str>, value: &Value) {
        let text = text::of_value(value, &mut Vec::new());
        if self.first_time(&text) {
            self.say(role, agent, value);
        }
    }

    /// Notes a text, and says whether it is new.
    pub(crate) fn first_time(&mut self, text: &str) -> bool {
        use std::hash::{Hash, Hasher};
        // SipHash with fixed keys: the same log always gives the same turns.
        let mut hasher = std::hash::DefaultHasher::new();
        text.trim().hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }

    /// Adds a tool call and remembers its id.
    pub(crate) fn call(&mut self, agent: Option<&str>, name: &str, id: Option<&str>, arguments: &Value) {
        if let Some(id) = id {
            self.calls.insert(id.to_owned(), name.to_owned());
        }
        let mut omitted = Vec::new();
        let text = match arguments {
            Value::String(text) => text::of_str(text, &mut omitted),
            Value::Null => String::new(),
            other => text::compact(other, &mut omitted),
        };
        self.add(Role::ToolCall, agent, Some(name), text, omitted);
    }

    /// Adds a tool result, named by its call.
    pub(crate) fn result(&mut self, agent: Option<&str>, name: Option<&str>, id: Option<&str>, value: &Value) {
        let mut omitted = Vec::new();
        let text = text::of_value(value, &mut omitted);
        let known = id.and_then(|id| self.calls.get(id)).cloned();
        let name = name.map(str::to_owned).or(known);
        self.add(Role::ToolResult, agent, name.as_deref(), text, omitted);
    }

    fn push(
        &mut self,
        role: Role,
        agent: Option<&str>,
        tool: Option<&str>,
        text: String,
        omitted: Vec<super::image::Omitted>,
    ) {
        if !text.trim().is_empty() {
            self.add(role, agent, tool, text, omitted);
        }
    }

    fn add(
        &mut self,
        role: Role,
        agent: Option<&str>,
        tool: Option<&str>,
        text: String,
        omitted: Vec<super::image::Omitted>,
    ) {
        self.turns.push(Turn {
            role,
            agent: agent.map(str::to_owned).or_else(|| self.agent.clone()),
            tool: tool.map(str::to_owned),
            time: self.time.clone(),
            step: self.step,
            last_step: self.step,
            head: None,
            unit: self.unit,
            depth: self.depth,
            text,
            omitted,
        });
    }

    /// Reads a list of messages, the index being the raw step.
    pub(crate) fn messages(&mut self, list: &[Value]) {
        for (step, message) in list.iter().enumerate() {
            self.message(message, step);
        }
    }

    /// Reads one chat message of whatever dialect.
    pub(crate) fn message(&mut self, message: &Value, step: usize) {
        self.step(step, time_of(message));
        self.message_here(message);
    }

    /// Reads one chat message into the current step.
    pub(crate) fn message_here(&mut self, message: &Value) {
        let (role, agent) = speaker(message);
        let agent = agent.as_deref();
        for key in ["reasoning_content", "reasoning", "thinking"] {
            if let Some(value) = message.get(key).filter(|value| value.is_string()) {
                self.say(Role::Thinking, agent, value);
                break;
            }
        }
        if let Some(details) = message.get("thinking_blocks").and_then(Value::as_array) {
            details.iter().for_each(|block| self.block(role, agent, block));
        }
        let content = ["content", "text", "message", "value", "parts", "raw", "span_text"]
            .iter()
            .find_map(|key| message.get(*key).filter(|value| !value.is_null()));
        let call_id = ["tool_call_id", "call_id", "tool_use_id"]
            .iter()
            .find_map(|key| str_of(message, key));
        match (role, content) {
            (Role::ToolResult, Some(content)) => {
                let ids = message.get("tool_call_ids").and_then(Value::as_array);
                let first = ids.and_then(|ids| ids.first()).and_then(Value::as_str);
                self.result(None, agent, call_id.or(first), content);
            }
            (_, Some(Value::Array(blocks))) => {
                for block in blocks {
                    self.block(role, agent, block);
                }
            }
            (_, Some(content)) => self.say(role, agent, content),
            (_, None) => {}
        }
        if let Some(refusal) = message.get("refusal").filter(|value| value.is_string()) {
            self.say(role, agent, refusal);
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            self.tool_call(agent, call);
        }
        if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
            self.tool_call(agent, call);
        }
    }

    /// A call in any of the usual shapes: `{id, function: {name, arguments}}`, `{id, name, args}`.
    pub(crate) fn tool_call(&mut self, agent: Option<&str>, call: &Value) {
        let inner = call.get("function").filter(|inner| inner.is_object()).unwrap_or(call);
        let name = ["name", "function_name", "tool_name", "toolName"]
            .iter()
            .find_map(|key| str_of(inner, key));
        let id = ["id", "call_id", "tool_call_id", "toolCallId"]
            .iter()
            .find_map(|key| str_of(call, key));
        let arguments = ["arguments", "args", "input", "parameters", "kwargs"]
            .iter()
            .find_map(|key| inner.get(*key));
        match (name, arguments) {
            (None, None) => self.call(agent, "tool", id, call),
            (name, arguments) => self.call(agent, name.unwrap_or("tool"), id, arguments.unwrap_or(&Value::Null)),
        }
    }

    /// One content block of a message.
    fn block(&mut self, role: Role, agent: Option<&str>, block: &Value) {
        let kind = str_of(block, "type").unwrap_or_default();
        match kind {
            "thinking" | "reasoning" => {
                let text = ["thinking", "text", "reasoning", "summary"]
                    .iter()
                    .find_map(|key| block.get(*key));
                self.say(Role::Thinking, agent, text.unwrap_or(block));
            }
            "redacted_thinking" => self.say_str(Role::Thinking, agent, "[thinking withheld by the provider]"),
            "tool_use" | "server_tool_use" | "mcp_tool_use" | "tool_call" | "tool-call" | "function_call"
            | "FunctionCall" => {
                self.tool_call(agent, block);
            }
            _ if kind.ends_with("tool_result") || kind == "tool-result" || kind == "function_call_output" => {
                let id = ["tool_use_id", "tool_call_id", "toolCallId", "call_id"]
                    .iter()
                    .find_map(|key| str_of(block, key));
                let content = ["content", "output", "result"].iter().find_map(|key| block.get(*key));
                let name = ["name", "toolName"].iter().find_map(|key| str_of(block, key));
                self.result(None, name, id, content.unwrap_or(&Value::Null));
            }
            // AutoGen writes calls and results as plain objects.
            "" if block.get("arguments").is_some() && block.get("name").is_some() => self.tool_call(agent, block),
            "" if block.get("call_id").is_some() && block.get("content").is_some() => {
                let content = block.get("content").unwrap_or(&Value::Null);
                self.result(None, str_of(block, "name"), str_of(block, "call_id"), content);
            }
            _ => match image_url(block) {
                Some(url) => {
                    let mut omitted = Vec::new();
                    let text = format!("[image: {}]", text::of_str(url, &mut omitted));
                    // A mark says what it is by itself.
                    let text = if omitted.is_empty() {
                        text
                    } else {
                        text::of_str(url, &mut Vec::new())
                    };
                    self.push(role, agent, None, text, omitted);
                }
                None => match block.get("text").filter(|_| kind.is_empty() || kind.ends_with("text")) {
                    Some(text) => self.say(role, agent, text),
                    None if kind == "refusal" => self.say(role, agent, block.get("refusal").unwrap_or(block)),
                    None => self.say(role, agent, block),
                },
            },
        }
    }
}

fn image_url(block: &Value) -> Option<&str> {
    let url = block.get("image_url").or_else(|| block.get("image"))?;
    url.as_str().or_else(|| url.get("url")?.as_str())
}

/// Who speaks in a message, and the name to call them by.
pub(crate) fn speaker(message: &Value) -> (Role, Option<String>) {
    let name = ["name", "agent_name", "sender", "agent", "source", "speaker", "author"]
        .iter()
        .find_map(|key| match message.get(*key)? {
            Value::String(name) => Some(name.as_str()),
            Value::Object(author) => author.get("name").or_else(|| author.get("role"))?.as_str(),
            _ => None,
        })
        .filter(|name| !name.is_empty());
    let role = ["role", "from", "type"].iter().find_map(|key| str_of(message, key));
    let role = role.or_else(|| message.get("author")?.get("role")?.as_str());
    match (role.and_then(known_role), name) {
        (Some(Role::User | Role::Agent), Some(name)) if is_environment(name) => {
            (Role::ToolResult, Some(name.to_owned()))
        }
        // `agent: "main"` beside a role is bookkeeping, not a name that tells anything.
        (Some(known), Some("main")) => (known, None),
        (Some(known), Some(name)) if known_role(name) == Some(known) => (known, None),
        (Some(known), name) => (known, name.map(str::to_owned)),
        (None, Some(name)) => named(name),
        (None, None) => role.map_or((Role::Agent, None), named),
    }
}

/// The role of a speaker that only has a name.
pub(crate) fn named(name: &str) -> (Role, Option<String>) {
    if let Some(role) = known_role(name) {
        return (role, None);
    }
    let role = if name.contains("(thought)") {
        Role::Plan
    } else if name.contains("(termination") {
        Role::Final
    } else if is_environment(name) {
        Role::ToolResult
    } else {
        Role::Agent
    };
    (role, Some(name.to_owned()))
}

fn known_role(word: &str) -> Option<Role> {
    Some(match word.to_ascii_lowercase().as_str() {
        "system" | "developer" | "system_prompt" => Role::System,
        "user" | "human" | "customer" => Role::User,
        "assistant" | "agent" | "ai" | "model" | "bot" | "gpt" | "llm" => Role::Agent,
        "tool" | "function" | "ipython" | "observation" | "environment" | "env" | "tool_response" | "tool-response"
        | "tool_result" | "tool_output" => Role::ToolResult,
        "tool_call" | "tool-call" => Role::ToolCall,
        "thinking" | "thought" | "reasoning" => Role::Thinking,
        "plan" => Role::Plan,
        _ => return None,
    })
}

/// Names that executors of code and tools go by.
fn is_environment(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "terminal",
        "executor",
        "environment",
        "sandbox",
        "interpreter",
        "code_runner",
        "tool_proxy",
    ]
    .iter()
    .any(|part| name.contains(part))
}

pub(crate) fn str_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

pub(crate) fn list_of<'a>(value: &'a Value, key: &str) -> Option<&'a [Value]> {
    value.get(key)?.as_array().map(Vec::as_slice)
}

/// A string or number as text.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The first of these fields that holds a string or number.
pub(crate) fn first_scalar(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| scalar(value.get(*key)?))
}

fn time_of(message: &Value) -> Option<&Value> {
    ["timestamp", "created_at", "time"]
        .iter()
        .find_map(|key| message.get(*key))
}

/// The ids that logs go by.
pub(crate) fn id_of(doc: &Value) -> Option<String> {
    const KEYS: [&str; 11] = [
        "case_id",
        "question_ID",
        "question_id",
        "task_id",
        "trajectory_id",
        "session_id",
        "sessionId",
        "instance_id",
        "trace_id",
        "run_id",
        "id",
    ];
    first_scalar(doc, &KEYS)
}

/// The question as a field of the log.
pub(crate) fn question_of(doc: &Value) -> Option<String> {
    [
        "question",
        "task",
        "instruction",
        "problem_statement",
        "goal",
        "query",
        "task_description",
    ]
    .iter()
    .find_map(|key| str_of(doc, key))
    .map(str::to_owned)
}
