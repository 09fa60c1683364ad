//! A lane is one judge under one method: how it is made, and what its answers depend on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::BenchArgs;
use super::folder::{self, LaneId};
use crate::audit::{Cause, Method};
use crate::cli::judges::AnyJudge;
use crate::cli::printer::Printer;
use crate::drive::{Budget, Judge, Lane, Limited, Limiter, Session};
use crate::store::Fingerprint;
use crate::wire::Price;

/// Lanes as they are asked.
pub(super) type Lanes = Vec<Arc<Lane<Limited<AnyJudge>>>>;

/// A lane before its journal is open.
pub(super) struct Candidate {
    pub id: LaneId,
    pub method: Method,
    pub judge: AnyJudge,
    /// The model's window in tokens, if it is known.
    pub window: Option<u64>,
}

impl Candidate {
    /// The price of the model, if there is a model and its price is known.
    pub fn price(&self) -> Option<Price> {
        match &self.judge {
            AnyJudge::Chat(chat) => chat.caller().settings().price,
            _ => None,
        }
    }
}

/// What the answers of a lane depend on.
pub(super) fn print_of(args: &BenchArgs, candidate: &Candidate, data: &str, prompts: &str) -> Fingerprint {
    let info = candidate.judge.info();
    let settings = args.settings(candidate.method, candidate.window);
    let mut print = vec![
        ("judge", info.kind.word().to_owned()),
        ("method", candidate.id.method.to_owned()),
        ("data", data.to_owned()),
        ("prompts", prompts.to_owned()),
        ("max_output", settings.max_output.to_string()),
        (
            "outcome",
            serde_json::to_value(settings.user.outcome).map_or_else(|_| String::new(), |word| word.to_string()),
        ),
    ];
    print.extend(candidate.window.map(|window| ("context_window", window.to_string())));
    if let AnyJudge::Chat(chat) = &candidate.judge {
        let params = &chat.caller().settings().params;
        let none = || "none".to_owned();
        print.extend([
            ("model", params.model.clone()),
            ("endpoint", chat.caller().client().endpoint().to_string()),
            ("api", format!("{:?}", params.api).to_lowercase()),
            (
                "temperature",
                params
                    .temperature
                    .map_or_else(none, |temperature| temperature.to_string()),
            ),
            ("reasoning_effort", params.reasoning_effort.clone().unwrap_or_else(none)),
            ("extra", serde_json::Value::Object(params.extra.clone()).to_string()),
        ]);
    }
    print
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// With a cap on cost, says of which models no cost is known.
pub(super) fn warn_of_prices(args: &BenchArgs, candidates: &[Candidate], printer: &Printer) {
    if args.max_cost.is_none() {
        return;
    }
    let unpriced: BTreeSet<&str> = candidates
        .iter()
        .filter(
            |candidate| matches!(&candidate.judge, AnyJudge::Chat(chat) if chat.caller().settings().price.is_none()),
        )
        .map(|candidate| candidate.id.model.as_str())
        .collect();
    for model in unpriced {
        printer.error(&format!(
            "warning: no price is known for {model}, so --max-cost cannot stop it (--models FILE gives a price)"
        ));
    }
}

/// Opens the journals and makes the sessions.
pub(super) fn open(
    args: &BenchArgs,
    folder: &Path,
    candidates: Vec<Candidate>,
    budget: &Budget,
    cancel: &CancellationToken,
    printer: &Printer,
) -> anyhow::Result<Lanes> {
    let mut limiters: BTreeMap<String, Arc<Limiter>> = BTreeMap::new();
    let mut halts: BTreeMap<String, Arc<OnceLock<Cause>>> = BTreeMap::new();
    let mut lanes = Vec::new();
    for Candidate {
        id,
        method,
        judge,
        window,
    } in candidates
    {
        let opened = folder::open_journal(&args.runs_dir, folder, &id)?;
        if let Some(other) = &opened.taken_from {
            let count = opened.recording.answers.len();
            printer.note(&format!(
                "auditor: {}: {count} answers taken over from {}",
                id.name(),
                other.display()
            ));
        } else if !opened.recording.answers.is_empty() {
            printer.note(&format!(
                "auditor: {}: {} answers from before",
                id.name(),
                opened.recording.answers.len()
            ));
        }
        if opened.recording.torn_bytes > 0 {
            let torn = opened.recording.torn_bytes;
            printer.note(&format!(
                "auditor: {}: a torn last line of {torn} bytes was cut off",
                id.journal()
            ));
        }
        let endpoint = judge.info().endpoint.filter(|_| args.rpm.or(args.tpm).is_some());
        let limiter = endpoint.map(|endpoint| {
            limiters
                .entry(endpoint)
                .or_insert_with(|| Arc::new(Limiter::new(args.rpm, args.tpm)))
                .clone()
        });
        let mut session = Session::new(Limited::new(judge, limiter));
        session.budget = budget.clone();
        session.cancel = cancel.clone();
        session.halt = halts.entry(id.model.clone()).or_default().clone();
        session.resume(opened.journal, opened.recording, args.retry_failed);
        lanes.push(Arc::new(Lane {
            session,
            settings: args.settings(method, window),
        }));
    }
    Ok(lanes)
}
