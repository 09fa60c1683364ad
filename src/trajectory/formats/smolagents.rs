//! smolagents and OAgents: agent memory as steps, or the lines of `run_gaia.py`.

use serde_json::{Map, Value};

use super::log::{Format, Log, id_of, list_of, question_of, str_of};
use super::python;
use crate::trajectory::turns::Role;

/// A list of memory steps, an object with lists of them (one an agent), or `intermediate_steps`.
pub(crate) struct SmolAgents;

fn is_step(step: &Value) -> bool {
    step.get("step_number").is_some() && step.get("role").is_none()
        || step.get("task").is_some() && step.get("task_images").is_some()
        || step.get("model_output").is_some()
}

/// The step lists of a document by agent; the main agent's first.
fn lists(doc: &Value) -> Vec<(&str, &[Value])> {
    let own = |list: &&[Value]| list.iter().take(20).any(is_step);
    if let Some(list) = doc.as_array().map(Vec::as_slice).filter(own) {
        return vec![("", list)];
    }
    let fields = doc.as_object().into_iter().flatten();
    let found =
        fields.filter_map(|(key, value)| Some((key.as_str(), value.as_array().map(Vec::as_slice).filter(own)?)));
    let mut found: Vec<_> = found.collect();
    // A manager's code names its sub-agents; the list that nobody calls is the main one.
    let text = |list: &[Value]| {
        list.iter()
            .map(|step| str_of(step, "code_action").unwrap_or_default())
            .collect::<String>()
    };
    let called = |name: &str| {
        found
            .iter()
            .any(|(other, list)| *other != name && text(list).contains(&format!("{}(", agent_name(name))))
    };
    let subs: Vec<bool> = found.iter().map(|(name, _)| called(name)).collect();
    let mut order: Vec<_> = found.drain(..).zip(subs).collect();
    order.sort_by_key(|(_, sub)| *sub);
    order.into_iter().map(|(list, _)| list).collect()
}

fn agent_name(field: &str) -> &str {
    field.strip_suffix("_steps").unwrap_or(field)
}

impl Format for SmolAgents {
    fn name(&self) -> &'static str {
        "smolagents"
    }
    fn about(&self) -> &'static str {
        "smolagents / OAgents: memory steps, or run_gaia lines with intermediate_steps"
    }
    fn score(&self, doc: &Value) -> u8 {
        if list_of(doc, "intermediate_steps").is_some() || !lists(doc).is_empty() {
            96
        } else {
            0
        }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        log.id = id_of(doc);
        log.question = question_of(doc);
        let mut lists = lists(doc).into_iter();
        match lists.next() {
            Some((_, main)) => {
                let mut subs: Vec<Sub<'_>> = lists
                    .map(|(name, steps)| Sub {
                        name: agent_name(name),
                        steps,
                        next: 0,
                    })
                    .collect();
                for (step, record) in main.iter().enumerate() {
                    log.step(step, None);
                    memory_step(record, step, &mut subs, log);
                }
            }
            None => lines(doc, log),
        }
        let last = log.turns.last().map_or(0, |turn| turn.step);
        for key in ["prediction", "output", "agent_error"] {
            let text = doc.get(key).and_then(Value::as_str).unwrap_or_default();
            if log.turns.iter().all(|turn| !turn.text.contains(text)) {
                log.step(last, None);
                log.say_str(Role::Final, None, text);
            }
        }
    }
}

/// A line of `run_gaia.py`: each step is a text, often Python's repr of the step.
fn lines(doc: &Value, log: &mut Log) {
    let steps = list_of(doc, "intermediate_steps").unwrap_or_default();
    let asked = doc
        .get("augmented_question")
        .and_then(Value::as_str)
        .unwrap_or_default();
    log.step(0, None);
    log.say_str(Role::User, None, asked);
    for (step, record) in steps.iter().enumerate() {
        log.step(step, None);
        let parsed = record.as_str().and_then(python::object);
        match parsed.or_else(|| record.is_object().then(|| record.clone())) {
            Some(parsed) => memory_step(&parsed, step, &mut [], log),
            None => log.say(Role::Agent, None, record),
        }
    }
}

/// The steps of a sub-agent, told run by run where it is called.
struct Sub<'a> {
    name: &'a str,
    steps: &'a [Value],
    next: usize,
}

fn memory_step(record: &Value, step: usize, subs: &mut [Sub<'_>], log: &mut Log) {
    let field = |key: &str| record.get(key).unwrap_or(&Value::Null);
    for message in list_of(record, "model_input_messages").unwrap_or_default() {
        // Later steps send everything again; only the system prompt stands nowhere else.
        if str_of(message, "role") == Some("system") {
            log.say_once(Role::System, None, message.get("content").unwrap_or(&Value::Null));
        }
    }
    log.say_once(Role::System, None, field("system_prompt"));
    log.say(Role::User, None, field("task"));
    for key in ["plan", "facts"] {
        log.say(Role::Plan, None, field(key));
    }
    let output = field("model_output");
    let output = if output.is_null() { field("llm_output") } else { output };
    log.say(Role::Agent, None, output);
    let said = output.as_str().unwrap_or_default();
    let code = str_of(record, "code_action").unwrap_or_default();
    for call in list_of(record, "tool_calls").unwrap_or_default() {
        log.tool_call(None, call);
    }
    for sub in subs
        .iter_mut()
        .filter(|sub| code.contains(&format!("{}(", sub.name)) || said.contains(&format!("\"{}\"", sub.name)))
    {
        sub_run(sub, step, log);
    }
    let name = list_of(record, "tool_calls")
        .and_then(|calls| calls.first())
        .and_then(|call| str_of(call.get("function").unwrap_or(call), "name").map(str::to_owned));
    if !field("observations").is_null() {
        log.result(None, name.as_deref(), None, field("observations"));
    }
    match field("error") {
        Value::Null => {}
        Value::Object(error) => log.result(
            None,
            name.as_deref(),
            None,
            error.get("message").unwrap_or(field("error")),
        ),
        error => log.result(None, name.as_deref(), None, error),
    }
    let answer = field("action_output");
    let told = answer.as_str().is_some_and(|text| {
        said.contains(text) || str_of(record, "observations").is_some_and(|seen| seen.contains(text))
    });
    if !told {
        log.say(Role::Final, None, answer);
    }
}

fn sub_run(sub: &mut Sub<'_>, step: usize, log: &mut Log) {
    let rest = sub.steps.get(sub.next..).unwrap_or_default();
    let length = rest
        .iter()
        .skip(1)
        .position(|record| record.get("task").is_some())
        .map_or(rest.len(), |at| at + 1);
    sub.next += length;
    log.depth = 1;
    log.agent = Some(sub.name.to_owned());
    for record in rest.iter().take(length) {
        log.step(step, None);
        memory_step(record, step, &mut [], log);
    }
    log.agent = None;
    log.depth = 0;
    log.step(step, None);
}

/// Helps [`python`] build objects of the shape that JSON memory has.
pub(crate) fn object_of(fields: Vec<(String, Value)>) -> Value {
    Value::Object(fields.into_iter().collect::<Map<_, _>>())
}
