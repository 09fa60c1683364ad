//! tau-bench results: a policy, a simulated user, an agent with tools.

use serde_json::Value;

use super::log::{Format, Log, list_of, scalar, str_of};

/// `{"task_id", "reward", "info": {"task": {"instruction"}}, "traj": [messages]}`, one or a list.
pub(crate) struct TauBench;

impl Format for TauBench {
    fn name(&self) -> &'static str {
        "tau-bench"
    }
    fn about(&self) -> &'static str {
        "tau-bench results: {task_id, reward, info, traj: [messages]}"
    }
    fn score(&self, doc: &Value) -> u8 {
        let own = list_of(doc, "traj").is_some() && (doc.get("reward").is_some() || doc.get("task_id").is_some());
        if own { 96 } else { 0 }
    }
    fn read(&self, doc: &Value, log: &mut Log) {
        let trial = doc.get("trial").and_then(scalar);
        let task = doc.get("task_id").and_then(scalar);
        log.id = match (task, trial) {
            (Some(task), Some(trial)) if trial != "0" && trial != task => Some(format!("{task}-trial-{trial}")),
            (task, _) => task,
        };
        // What the simulated user was told to get done.
        let told = doc
            .get("info")
            .and_then(|info| str_of(info.get("task")?, "instruction"));
        log.question = told.map(str::to_owned);
        log.messages(list_of(doc, "traj").unwrap_or_default());
    }
}
