//! Which format a document is of, told by its content.

use serde_json::Value;

use super::log::{Format, Log};
use super::{
    agentchat, agentrx, anthropic, atif, captain_agent, claude_code, codex, generic, magentic_one, miroflow,
    openai_chat, openai_responses, openhands, smolagents, swe_agent, tau_bench,
};

/// Every format, in the order `auditor import --list` shows them.
pub(crate) static FORMATS: [&dyn Format; 16] = [
    &openai_chat::OpenAiChat,
    &openai_responses::OpenAiResponses,
    &anthropic::Anthropic,
    &claude_code::ClaudeCode,
    &codex::Codex,
    &magentic_one::MagenticOne,
    &agentchat::AgentChat,
    &captain_agent::CaptainAgent,
    &smolagents::SmolAgents,
    &miroflow::MiroFlow,
    &tau_bench::TauBench,
    &swe_agent::SweAgent,
    &openhands::OpenHands,
    &atif::Atif,
    &agentrx::AgentRx,
    &generic::Generic,
];

/// A guess that beats the next one by less than this names it.
const MARGIN: u8 = 10;

/// A guess at a format.
#[derive(Clone, Copy)]
pub(crate) struct Guess {
    pub(crate) format: &'static dyn Format,
    pub(crate) score: u8,
    /// The runner-up, when it comes near.
    pub(crate) second: Option<&'static dyn Format>,
}

/// The format with this name.
pub(crate) fn by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The likeliest format of a document.
pub(crate) fn document(doc: &Value) -> Option<Guess> {
    best(|format| format.score(doc))
}

/// The likeliest format of a line that is an event of a longer log.
pub(crate) fn line(line: &Value) -> Option<Guess> {
    best(|format| format.line_score(line))
}

fn best(score: impl Fn(&dyn Format) -> u8) -> Option<Guess> {
    let mut scored: Vec<(u8, &'static dyn Format)> = FORMATS.iter().map(|format| (score(*format), *format)).collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let (top, format) = scored.first().copied().filter(|(score, _)| *score > 0)?;
    let second = scored.get(1).filter(|(next, _)| *next > 0 && top - next < MARGIN);
    Some(Guess {
        format,
        score: top,
        second: second.map(|(_, format)| *format),
    })
}

/// The logs in a document: itself, or the elements of a list of logs.
pub(crate) fn logs<'a>(doc: &'a Value, from: Option<&'static dyn Format>) -> Vec<(&'a Value, Guess)> {
    let guess = |doc: &Value| match from {
        Some(format) => Some(Guess {
            format,
            score: format.score(doc),
            second: None,
        }),
        None => document(doc),
    };
    let whole = guess(doc);
    if whole.is_some_and(|guess| guess.score > FALLBACK) {
        return whole.map(|guess| (doc, guess)).into_iter().collect();
    }
    let lists = [doc.as_array(), many(doc)];
    for list in lists.into_iter().flatten() {
        let each: Vec<_> = list
            .iter()
            .filter_map(|element| Some((element, guess(element)?)))
            .collect();
        let sure = each
            .iter()
            .filter(|(element, guess)| element.is_object() && guess.score > FALLBACK)
            .count();
        if sure > 0 && sure * 2 >= list.len() {
            return each;
        }
    }
    whole.map(|guess| (doc, guess)).into_iter().collect()
}

/// Scores up to here say no more than that there is text.
const FALLBACK: u8 = 10;

/// Fields that hold many runs.
fn many(doc: &Value) -> Option<&Vec<Value>> {
    [
        "items",
        "runs",
        "trajectories",
        "results",
        "simulations",
        "data",
        "logs",
        "samples",
    ]
    .iter()
    .find_map(|key| doc.get(*key)?.as_array())
}

/// Reads one document.
pub(crate) fn read(doc: &Value, guess: &Guess) -> Log {
    let mut log = Log::default();
    guess.format.read(doc, &mut log);
    if let Some(second) = guess.second {
        log.notes.push(format!(
            "read as {}, could also be {}; --from decides",
            guess.format.name(),
            second.name()
        ));
    }
    log
}
