//! The common form of logs: turns, in the order they happened.
//!
//! A turn is one thing that was said, called, returned or thought. Turns that one raw step of
//! the log brought (a message with text and two tool calls, say) share their unit; spans are cut
//! between units only.

use super::formats::image::Omitted;

/// Who or what a turn comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Instructions of the framework, summaries of compacted history, notices.
    System,
    /// The person, or whoever gave the task.
    User,
    /// What an agent said.
    Agent,
    /// What an agent thought.
    Thinking,
    /// A plan, a task ledger, a to-do list.
    Plan,
    /// A tool called, with its arguments.
    ToolCall,
    /// What a tool returned.
    ToolResult,
    /// The answer that was handed in, or the notice that ended the run.
    Final,
}

impl Role {
    /// The word that heads a turn in span text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Thinking => "thinking",
            Self::Plan => "plan",
            Self::ToolCall => "tool call",
            Self::ToolResult => "tool result",
            Self::Final => "final",
        }
    }

    /// Was the agent shown this, rather than having said it?
    #[must_use]
    pub fn is_observation(self) -> bool {
        matches!(self, Self::System | Self::User | Self::ToolResult)
    }
}

/// One turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its kind.
    pub role: Role,
    /// Name of the agent, when the log gives one.
    pub agent: Option<String>,
    /// Name of the tool, for calls and results.
    pub tool: Option<String>,
    /// When, as the log writes it.
    pub time: Option<String>,
    /// Raw step of the log, 0-based: the message, event or line it stands in.
    pub step: usize,
    /// Last raw step of it; the same, but for turns that were spans.
    pub last_step: usize,
    /// Turns of one raw message share this; it only grows.
    pub unit: usize,
    /// 0 for the main agent, 1 for a sub-agent's turns, and so on.
    pub depth: usize,
    /// Stands in place of the usual head line, when the text had a head of its own.
    pub head: Option<String>,
    /// The text, inline files replaced by marks.
    pub text: String,
    /// What the marks stand for.
    pub(crate) omitted: Vec<Omitted>,
}

impl Turn {
    /// The turn as it stands in a span: a head line in brackets, then the text.
    #[must_use]
    pub fn rendered(&self) -> String {
        if let Some(head) = &self.head {
            return format!("{head}{}", self.text);
        }
        let mut head = self.role.word().to_owned();
        for name in [&self.agent, &self.tool].into_iter().flatten() {
            head.push(' ');
            head.push_str(name);
        }
        let deeper = ">".repeat(self.depth);
        format!("{deeper}[{head}]\n{}", self.text)
    }
}
