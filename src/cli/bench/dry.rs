//! `--dry-run`: how many calls, tokens and dollars it would take, without asking anybody.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;

use super::plan::Plan;
use crate::audit::{Ask, Method, Settings};
use crate::drive::{Judge, JudgeInfo, Judged, Lane, OfflineJudge, Session, bench};
use crate::eval::Table;
use crate::prompt::Prompts;
use crate::trajectory::Stage;
use crate::wire::{Price, Usage};

/// Characters a token: what common tokenizers make of English.
const CHARS_A_TOKEN: u64 = 4;

/// Output tokens a reply is taken to have, reasoning aside: what a reply of the sizes that the prompts ask for comes
/// to (three to five claims with quotes, a record a claim, a trace). Reasoning models use many times that.
fn output_tokens(stage: Stage) -> u64 {
    match stage {
        Stage::Keeper | Stage::Seeker => 900,
        _ => 350,
    }
}

/// Stands in for a judge: counts the requests, and answers as the offline judge does, so that every stage is reached
/// with a ledger and a packet of a usual size.
struct Meter {
    offline: OfflineJudge,
    prompts: Arc<Prompts>,
    use_of: Arc<Mutex<BTreeMap<Method, Usage>>>,
}

impl Judge for Meter {
    async fn answer(&self, ask: &Ask) -> Judged {
        if let Ok(rendered) = self.prompts.render(ask) {
            let chars = |text: &str| text.chars().count() as u64;
            let all = chars(&rendered.system)
                + rendered.user.iter().map(|text| chars(text)).sum::<u64>()
                + chars(&rendered.schema.to_string());
            let (input, output) = (all / CHARS_A_TOKEN, output_tokens(ask.id.stage));
            let one = Usage {
                calls: 1,
                input_tokens: input,
                output_tokens: output,
                total_tokens: input + output,
                ..Usage::default()
            };
            let mut use_of = self.use_of.lock().unwrap_or_else(PoisonError::into_inner);
            use_of.entry(ask.id.method).or_default().add(&one);
        }
        self.offline.answer(ask).await
    }

    fn request_hash(&self, ask: &Ask) -> String {
        self.offline.request_hash(ask)
    }

    fn info(&self) -> JudgeInfo {
        self.offline.info()
    }
}

/// What the audits of each method are expected to use, one repeat.
pub(super) async fn expected(
    plan: &Plan,
    methods: &[Settings],
    prompts: &Arc<Prompts>,
    jobs: usize,
) -> anyhow::Result<BTreeMap<Method, Usage>> {
    let use_of: Arc<Mutex<BTreeMap<Method, Usage>>> = Arc::default();
    let lane = |settings: &Settings| {
        let offline = OfflineJudge::new(prompts.clone());
        let meter = Meter {
            offline,
            prompts: prompts.clone(),
            use_of: use_of.clone(),
        };
        Arc::new(Lane {
            session: Session::new(meter),
            settings: settings.clone(),
        })
    };
    let lanes: Vec<_> = methods.iter().map(lane).collect();
    let mut audits = std::pin::pin!(bench(lanes, plan.records()?, 1, jobs));
    while audits.next().await.is_some() {}
    let found = use_of.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(found)
}

/// A row of the estimate.
pub(super) struct Estimate {
    pub model: String,
    pub method: Method,
    /// False for the offline judge, which makes no calls.
    pub chat: bool,
    pub price: Option<Price>,
    /// Answers that the run's folder holds already.
    pub recorded: usize,
}

/// The estimate as a table; its last row is the sum.
pub(super) fn table(rows: &[Estimate], use_of: &BTreeMap<Method, Usage>, repeats: u32, max_output: u32) -> Table {
    let head = [
        "model",
        "method",
        "calls",
        "of them recorded",
        "input tokens",
        "output tokens",
        "cost USD",
        "at most USD",
    ];
    let mut table = Table::new("Expected, with nothing going wrong", &head);
    let (mut calls, mut input, mut output, mut cost, mut most) = (0, 0, 0, Some(0.0), Some(0.0));
    for row in rows {
        let mut usage = use_of.get(&row.method).cloned().unwrap_or_default();
        let times = if row.chat { u64::from(repeats) } else { 0 };
        usage.calls *= times;
        usage.input_tokens *= times;
        usage.output_tokens *= times;
        // Every reply as long as it may be, and every question asked once more.
        let longest = Usage {
            input_tokens: 2 * usage.input_tokens,
            output_tokens: 2 * usage.calls * u64::from(max_output),
            ..Usage::default()
        };
        let free = (times == 0).then_some(0.0);
        let (own, own_most) = (
            free.or(row.price.map(|price| price.cost(&usage))),
            free.or(row.price.map(|price| price.cost(&longest))),
        );
        table.rows.push(vec![
            row.model.clone(),
            row.method.to_string(),
            usage.calls.to_string(),
            row.recorded.to_string(),
            usage.input_tokens.to_string(),
            usage.output_tokens.to_string(),
            dollars(own),
            dollars(own_most),
        ]);
        (calls, input, output) = (
            calls + usage.calls,
            input + usage.input_tokens,
            output + usage.output_tokens,
        );
        cost = cost.zip(own).map(|(a, b)| a + b);
        most = most.zip(own_most).map(|(a, b)| a + b);
    }
    let recorded: usize = rows.iter().map(|row| row.recorded).sum();
    table.rows.push(vec![
        "all".to_owned(),
        String::new(),
        calls.to_string(),
        recorded.to_string(),
        input.to_string(),
        output.to_string(),
        dollars(cost),
        dollars(most),
    ]);
    table
}

fn dollars(cost: Option<f64>) -> String {
    cost.map_or_else(|| "not known".to_owned(), |cost| format!("{cost:.4}"))
}

/// What the numbers rest on.
pub(super) fn remarks() -> Vec<String> {
    vec![
        "Input: the prompts as they would be sent, at four characters a token, with the offline judge's answers in place of the model's.".to_owned(),
        "Output: 900 tokens for a ledger or support reply, 350 for others; reasoning tokens come on top.".to_owned(),
        "At most: every reply at --max-output and every question asked once more.".to_owned(),
    ]
}
