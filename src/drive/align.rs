//! All tiers over a run: shared words, embeddings, judge.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::client::Client;
use super::embed::{closeness, embed};
use super::gd::{GdJudged, judge_turns};
use super::judge::Judge;
use super::online::Session;
use crate::audit::Cause;
use crate::gd::{GdAudit, GdSettings, LEXICAL, Lexical, Policy, Prepared};
use crate::trajectory::Trajectory;

/// Name of the embedding tier.
pub const EMBEDDING: &str = "embedding";

/// Which tiers are asked, and how.
#[derive(Clone, Debug)]
pub struct Tiers {
    /// Hard constraints of the goal, which is the run's question.
    pub constraints: Vec<String>,
    /// Where embeddings come from, and the model's name; without it there is no such tier.
    pub embedding: Option<(Client, String)>,
    /// The judge is asked.
    pub judge: bool,
    /// Which turns the judge is asked about, by what the last cheap tier said.
    pub policy: Policy,
    /// Settings of the judge.
    pub settings: GdSettings,
}

/// What all tiers said of a run.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// Positions of the turns: those that the agent was not merely shown.
    pub turns: Vec<usize>,
    /// Alignment by shared words; `None` where there is nothing to compare.
    pub lexical: Vec<Option<f64>>,
    /// Alignment by embeddings, when that tier was asked.
    pub embedding: Option<Result<Vec<Option<f64>>, Cause>>,
    /// What the judge said, when it was asked.
    pub judged: Option<GdJudged>,
}

/// Scores the agent's turns of a run by every tier. `input` is the run's 0-based index.
pub async fn align<J: Judge>(
    session: &Session<J>,
    run: &Arc<Trajectory>,
    tiers: &Tiers,
    input: u64,
    gate: &Semaphore,
) -> Aligned {
    let turns = own_turns(run);
    let words = Lexical::new(run, &tiers.constraints);
    let lexical: Vec<Option<f64>> = turns.iter().map(|turn| words.alignment(*turn)).collect();
    let embedding = match &tiers.embedding {
        Some((client, model)) => Some(embedded(client, model, run, &tiers.constraints, &turns).await),
        None => None,
    };
    let judged = if tiers.judge {
        let of_embedding = embedding.as_ref().and_then(|tier| tier.as_ref().ok());
        let plans = turns.iter().zip(&lexical).enumerate().map(|(place, (turn, lexical))| {
            let finer = of_embedding
                .and_then(|tier| tier.get(place).copied().flatten())
                .map(|score| (EMBEDDING, score));
            let prior = finer.or(lexical.map(|score| (LEXICAL, score)));
            (*turn, tiers.policy.plan(run.case_id(), run.id_at(*turn), prior))
        });
        let prepared = Prepared {
            run: run.clone(),
            roles: Arc::default(),
            constraints: Arc::new(tiers.constraints.clone()),
            plans: plans.collect(),
        };
        let settings = GdSettings {
            input,
            ..tiers.settings.clone()
        };
        Some(judge_turns(session, GdAudit::new(prepared, settings), gate).await)
    } else {
        None
    };
    Aligned {
        turns,
        lexical,
        embedding,
        judged,
    }
}

/// Spans that the agent was not merely shown; all of them when the log does not tell.
fn own_turns(run: &Trajectory) -> Vec<usize> {
    let own = run
        .spans()
        .iter()
        .enumerate()
        .filter(|(_, span)| span.local.observation != Some(true));
    let own: Vec<usize> = own.map(|(position, _)| position).collect();
    if own.is_empty() {
        (0..run.spans().len()).collect()
    } else {
        own
    }
}

async fn embedded(
    client: &Client,
    model: &str,
    run: &Trajectory,
    constraints: &[String],
    turns: &[usize],
) -> Result<Vec<Option<f64>>, Cause> {
    let goal = std::iter::once(run.question())
        .chain(constraints.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("\n");
    // Endpoints refuse an empty text.
    let spoken = turns
        .iter()
        .filter_map(|turn| run.spans().get(*turn))
        .map(|span| span.text.as_str());
    let texts: Vec<String> = std::iter::once(goal.as_str())
        .chain(spoken)
        .map(|text| if text.trim().is_empty() { "-" } else { text }.to_owned())
        .collect();
    let vectors = embed(client, model, &texts).await?;
    let Some((goal, turns)) = vectors.split_first() else {
        return Ok(Vec::new());
    };
    Ok(turns.iter().map(|turn| closeness(goal, turn)).collect())
}
