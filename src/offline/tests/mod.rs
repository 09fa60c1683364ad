//! Small runs in our own wording: what is found, what is not, and that only the words decide.

mod behaviour;
mod pairs;
mod properties;

use std::sync::Arc;

use super::answer;
use crate::audit::{
    Answer, Ask, AskId, BareQuestion, KeeperQuestion, Method, Question, RunView, SeekerQuestion, TracerQuestion,
    UserKnows,
};
use crate::evidence::{Packet, Quote, QuoteStatus};
use crate::ledger::{Claim, EvidenceHandle, Ledger, SupportRecord};
use crate::reply::{BareReply, KeeperReply, SeekerReply, StageReply, TracerReply};
use crate::trajectory::{LocalFields, Span, Stage, Trajectory};

/// Spans as `(who, text)`: `a` the agent, `t` a tool, `u` the user, `-` unmarked.
fn run(question: &str, spans: &[(&str, &str)]) -> Trajectory {
    let spans = spans
        .iter()
        .enumerate()
        .map(|(at, (who, text))| span(&format!("s{:03}", at + 1), who, text))
        .collect();
    Trajectory::new("case", question, spans).0
}

fn span(id: &str, who: &str, text: &str) -> Span {
    let (agent, observation) = match who {
        "a" => (Some("assistant"), Some(false)),
        "t" => (Some("tool"), Some(true)),
        "u" => (Some("user"), Some(true)),
        _ => (None, None),
    };
    let local = LocalFields {
        agent: agent.map(str::to_owned),
        observation,
        ..LocalFields::default()
    };
    Span {
        id: id.to_owned(),
        text: text.to_owned(),
        local,
        ..Span::default()
    }
}

fn ask(question: Question) -> Ask {
    let id = AskId {
        input: 0,
        case_id: "case".to_owned(),
        method: Method::Drift,
        judge: 0,
        stage: Stage::Keeper,
        part: 0,
        attempt: 0,
        repeat: 0,
    };
    Ask {
        id,
        question,
        previous: None,
        max_output: 4096,
    }
}

fn reply(question: Question) -> StageReply {
    match answer(&ask(question)) {
        Answer::Reply { reply, .. } => reply,
        other => panic!("the offline judge always replies, got {other:?}"),
    }
}

/// The replies of the three stages, one built on the other.
struct Chained {
    keeper: KeeperReply,
    seeker: SeekerReply,
    tracer: TracerReply,
}

fn looked_up(run: &Trajectory, span_id: &str, text: &str) -> Quote {
    let span = &run.spans()[run.position(span_id).expect("a quote names a span of the run")];
    let at = span
        .text
        .find(text)
        .unwrap_or_else(|| panic!("{text:?} does not stand in {span_id}"));
    let start = span.text[..at].chars().count();
    Quote {
        span_id: span_id.to_owned(),
        text: text.to_owned(),
        start: Some(start),
        end: Some(start + text.chars().count()),
        status: QuoteStatus::Verified,
    }
}

fn ledger_of(run: &Trajectory, keeper: &KeeperReply) -> Ledger {
    let claims = keeper.claims.iter().map(|claim| Claim {
        claim_id: claim.claim_id.clone(),
        claim: claim.claim.clone(),
        introduced_at: claim.introduced_at.clone(),
        becomes_consequential_at: claim.becomes_consequential_at.clone(),
        used_by: claim.used_by.clone(),
        claim_type: claim.claim_type,
        status: claim.status,
        quotes: claim
            .quotes
            .iter()
            .map(|event| looked_up(run, &event.span_id, &event.quote))
            .collect(),
    });
    Ledger {
        task_goal: keeper.task_goal.clone(),
        hard_constraints: keeper.hard_constraints.clone(),
        claims: claims.collect(),
        notes: keeper.notes.clone(),
    }
}

fn support_of(run: &Trajectory, seeker: &SeekerReply) -> Vec<SupportRecord> {
    let records = seeker.support_records.iter().map(|record| SupportRecord {
        claim_id: record.claim_id.clone(),
        support_spans: record.support_spans.clone(),
        support_status: record.support_status,
        missing_support: record.missing_support.clone(),
        needs_auditors: record.needs_auditors.clone(),
        evidence_handles: record
            .evidence_handles
            .iter()
            .map(|handle| EvidenceHandle {
                span_id: handle.span_id.clone(),
                chunk_id: handle.chunk_id.clone(),
                role: handle.role,
                text: handle.text.clone(),
                quote: Some(looked_up(run, &handle.span_id, &handle.text)),
            })
            .collect(),
    });
    records.collect()
}

fn trace(run: &Arc<Trajectory>, ledger: Arc<Ledger>, support: Vec<SupportRecord>) -> TracerReply {
    let question = TracerQuestion {
        run: Arc::clone(run),
        user: UserKnows::default(),
        ledger,
        support: Arc::new(support),
        packet: Arc::new(Packet::default()),
    };
    let StageReply::Tracer(tracer) = reply(Question::Tracer(question)) else {
        panic!("a tracer's reply")
    };
    tracer
}

fn keep(run: &Arc<Trajectory>) -> KeeperReply {
    let question = KeeperQuestion {
        run: Arc::clone(run),
        view: RunView::whole(run),
        user: UserKnows::default(),
    };
    let StageReply::Keeper(keeper) = reply(Question::Keeper(question)) else {
        panic!("a keeper's reply")
    };
    keeper
}

fn seek(run: &Arc<Trajectory>, ledger: &Arc<Ledger>) -> SeekerReply {
    let question = SeekerQuestion {
        run: Arc::clone(run),
        user: UserKnows::default(),
        ledger: Arc::clone(ledger),
        packet: Arc::new(Packet::default()),
    };
    let StageReply::Seeker(seeker) = reply(Question::Seeker(question)) else {
        panic!("a seeker's reply")
    };
    seeker
}

/// Asks all stages; every quote on the way is looked up in its span.
fn chained(run: Trajectory) -> Chained {
    let run = Arc::new(run);
    let keeper = keep(&run);
    let ledger = Arc::new(ledger_of(&run, &keeper));
    let seeker = seek(&run, &ledger);
    let tracer = trace(&run, ledger, support_of(&run, &seeker));
    for reason in &tracer.reasons {
        looked_up(&run, &reason.span_id, reason.quote.as_deref().unwrap_or(""));
    }
    assert_eq!(
        bare(&run).error_span_ids,
        tracer.error_span_ids,
        "one call and three calls agree"
    );
    Chained { keeper, seeker, tracer }
}

fn bare(run: &Arc<Trajectory>) -> BareReply {
    let question = BareQuestion {
        run: Arc::clone(run),
        view: RunView::whole(run),
        user: UserKnows::default(),
    };
    let StageReply::Bare(bare) = reply(Question::Bare(question)) else {
        panic!("a reply to bare")
    };
    for reason in &bare.reasons {
        looked_up(run, &reason.span_id, reason.quote.as_deref().unwrap_or(""));
    }
    bare
}

/// Ids of the harmful spans.
fn errors(question: &str, spans: &[(&str, &str)]) -> Vec<String> {
    chained(run(question, spans)).tracer.error_span_ids
}
