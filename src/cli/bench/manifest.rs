//! What a run's folder holds and how it was made, so that it can be made again.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::BenchArgs;
use super::folder::{self, SCHEMA};
use super::lanes::{Candidate, Lanes};
use super::plan::Plan;
use crate::cli::Exit;
use crate::cli::judges::AnyJudge;
use crate::drive::{Judge, JudgeInfo};
use crate::prompt::Prompts;
use crate::wire::Price;

/// `manifest.json`.
#[derive(Serialize)]
pub(super) struct Manifest {
    schema: &'static str,
    auditor: &'static str,
    /// `running` until it ended; then `complete`, `interrupted` or `budget`.
    status: &'static str,
    /// What makes this run this run and no other.
    identity: BTreeMap<String, String>,
    data: Data,
    prompts: BTreeMap<String, String>,
    lanes: Vec<LaneRow>,
    parameters: Parameters,
    /// Seconds since 1970 when the last session began, and how long it took.
    began_unix: u64,
    wall_s: f64,
    /// US dollars, earlier sessions included.
    spent_usd: f64,
    #[serde(skip)]
    began: Instant,
}

#[derive(Serialize)]
struct Data {
    file: String,
    bytes: u64,
    blake3: String,
    gold_file: Option<String>,
    gold_blake3: Option<String>,
    labelled_runs: usize,
    audited_runs: usize,
}

#[derive(Serialize)]
struct LaneRow {
    model: String,
    method: &'static str,
    judge: JudgeInfo,
    depends_on: BTreeMap<String, String>,
    price: Option<Price>,
    journal: String,
    /// What the endpoint refused, a sentence each.
    downgrades: Vec<String>,
}

#[derive(Serialize)]
struct Parameters {
    repeats: u32,
    limit: Option<u32>,
    shuffle: Option<u64>,
    difficulty: Vec<String>,
    jobs: u16,
    rpm: Option<u64>,
    tpm: Option<u64>,
    max_cost: Option<f64>,
    max_output: u32,
    timeout_s: f64,
    retries: u32,
    both_empty: u8,
    resamples: Option<u32>,
    seed: u64,
}

impl Manifest {
    pub fn new(
        args: &BenchArgs,
        plan: &Plan,
        prompts: &Prompts,
        candidates: &[Candidate],
        identity: BTreeMap<String, String>,
    ) -> Self {
        let lanes = candidates.iter().map(|candidate| LaneRow {
            model: candidate.id.model.clone(),
            method: candidate.id.method,
            judge: candidate.judge.info(),
            depends_on: candidate.id.print.clone(),
            price: candidate.price(),
            journal: candidate.id.journal(),
            downgrades: Vec::new(),
        });
        let texts = prompts
            .texts()
            .iter()
            .map(|(name, text)| (name.clone(), blake3::hash(text.as_bytes()).to_hex().to_string()));
        Self {
            schema: SCHEMA,
            auditor: env!("CARGO_PKG_VERSION"),
            status: "running",
            identity,
            data: Data {
                file: args.data.display().to_string(),
                bytes: plan.bytes,
                blake3: plan.hash.clone(),
                gold_file: args.gold.as_ref().map(|path| path.display().to_string()),
                gold_blake3: plan.gold_hash.clone(),
                labelled_runs: plan.labelled,
                audited_runs: plan.cases.cases().len(),
            },
            prompts: texts.collect(),
            lanes: lanes.collect(),
            parameters: Parameters {
                repeats: args.repeats,
                limit: args.limit,
                shuffle: args.shuffle,
                difficulty: args.difficulty.clone(),
                jobs: args.jobs,
                rpm: args.rpm,
                tpm: args.tpm,
                max_cost: args.max_cost,
                max_output: args.max_output,
                timeout_s: args.how.timeout,
                retries: args.how.retries,
                both_empty: args.evaluation().both_empty.value(),
                resamples: args.resamples,
                seed: args.seed,
            },
            began_unix: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
            wall_s: 0.0,
            spent_usd: 0.0,
            began: Instant::now(),
        }
    }

    /// Takes in how it ended, and the dialects that were found out meanwhile.
    pub fn end(&mut self, lanes: &Lanes, exit: Exit, spent: f64) {
        self.status = match exit {
            Exit::Interrupted => "interrupted",
            Exit::Budget => "budget",
            _ => "complete",
        };
        self.wall_s = (self.began.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        self.spent_usd = spent;
        for (row, lane) in self.lanes.iter_mut().zip(lanes) {
            row.judge = lane.session.judge.info();
            if let AnyJudge::Chat(chat) = lane.session.judge.inner() {
                row.downgrades = chat.caller().steps();
            }
        }
    }

    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        folder::write_json(&folder.join(folder::MANIFEST), self)
    }
}
