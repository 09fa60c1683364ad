//! One small run, rendered in every way.

mod fences;
mod gd;
mod rules;
mod shapes;

use std::sync::{Arc, LazyLock};

use super::*;
use crate::audit::{
    Ask, AskId, BareQuestion, GdQuestion, KeeperQuestion, Method, Question, RunView, SeekerQuestion, TracerQuestion,
    UserKnows,
};
use crate::evidence::{Chunk, Packet, Quote, QuoteStatus};
use crate::ledger::{
    Claim, ClaimStatus, ClaimType, EvidenceHandle, EvidenceRole, Ledger, SupportRecord, SupportStatus,
};
use crate::trajectory::{Span, Trajectory};

fn run_of(question: &str, texts: &[(&str, &str)]) -> Arc<Trajectory> {
    let spans = texts.iter().map(|(id, text)| Span {
        id: (*id).to_owned(),
        text: (*text).to_owned(),
        ..Span::default()
    });
    Arc::new(Trajectory::new("bridge", question, spans.collect()).0)
}

fn bridge() -> Arc<Trajectory> {
    run_of(
        "Which bridge over the Tarn opened first, and in which year? Count road bridges only.",
        &[
            (
                "p1",
                "Plan: list the bridges over the Tarn and compare their opening years.",
            ),
            ("p2", "search(\"bridges over the Tarn opening year\")"),
            (
                "p3",
                "Result: The Old Mill bridge carries the railway. It opened in 1868.",
            ),
            (
                "p4",
                "The Old Mill bridge of 1868 is the earliest, so it is the answer.",
            ),
            ("p5", "Final answer: the Old Mill bridge, 1868."),
        ],
    )
}

fn quote(span_id: &str, text: &str, status: QuoteStatus) -> Quote {
    Quote {
        span_id: span_id.to_owned(),
        text: text.to_owned(),
        start: Some(0),
        end: Some(text.len()),
        status,
    }
}

fn bridge_ledger() -> Ledger {
    Ledger {
        task_goal: "Name the first road bridge over the Tarn and its year.".to_owned(),
        hard_constraints: vec!["road bridges only".to_owned(), "give a year".to_owned()],
        claims: vec![Claim {
            claim_id: "c1".to_owned(),
            claim: "The Old Mill bridge of 1868 is the\nearliest.".to_owned(),
            introduced_at: Some("p4".to_owned()),
            becomes_consequential_at: Some("p4".to_owned()),
            used_by: vec!["p5".to_owned()],
            claim_type: ClaimType::Constraint,
            status: ClaimStatus::Finalized,
            quotes: vec![
                quote("p4", "is the earliest", QuoteStatus::Verified),
                quote("p5", "words of nobody", QuoteStatus::NotFound),
            ],
        }],
        notes: String::new(),
    }
}

fn bridge_support() -> Vec<SupportRecord> {
    let handle = |span: &str, role, text: &str, status| EvidenceHandle {
        span_id: span.to_owned(),
        chunk_id: format!("{span}:c001"),
        role,
        text: text.to_owned(),
        quote: Some(quote(span, text, status)),
    };
    vec![SupportRecord {
        claim_id: "c1".to_owned(),
        support_spans: vec!["p3".to_owned()],
        support_status: SupportStatus::Conflicting,
        missing_support: "nothing says that it is a road bridge".to_owned(),
        needs_auditors: vec!["constraint".to_owned()],
        evidence_handles: vec![
            handle(
                "p3",
                EvidenceRole::Conflict,
                "carries the railway",
                QuoteStatus::Verified,
            ),
            handle("p3", EvidenceRole::DirectSupport, "a fine road", QuoteStatus::NotFound),
        ],
    }]
}

/// A chunk of a span by its characters; the texts of these tests are ASCII.
fn chunk(span: usize, index: usize, range: std::ops::Range<usize>) -> Chunk {
    Chunk {
        span,
        index,
        chars: range.clone(),
        bytes: range,
    }
}

fn whole_chunks(run: &Trajectory, spans: &[usize]) -> Packet {
    Packet {
        chunks: spans
            .iter()
            .map(|at| chunk(*at, 0, 0..run.spans()[*at].text.len()))
            .collect(),
        ..Packet::default()
    }
}

struct Asks {
    run: Arc<Trajectory>,
    user: UserKnows,
    ledger: Arc<Ledger>,
    support: Arc<Vec<SupportRecord>>,
    packet: Arc<Packet>,
    method: Method,
}

impl Asks {
    fn bridge(method: Method) -> Self {
        let run = bridge();
        let packet = whole_chunks(&run, &[4, 2, 3]);
        let mut ledger = bridge_ledger();
        if method == Method::Paper {
            ledger.claims[0].quotes.clear();
        }
        Self {
            run,
            user: UserKnows::default(),
            ledger: Arc::new(ledger),
            support: Arc::new(bridge_support()),
            packet: Arc::new(packet),
            method,
        }
    }

    fn ask(&self, stage: Stage) -> Ask {
        let (run, user) = (Arc::clone(&self.run), self.user.clone());
        let (ledger, packet) = (Arc::clone(&self.ledger), Arc::clone(&self.packet));
        let view = RunView::whole(&run);
        let question = match stage {
            Stage::Keeper => Question::Keeper(KeeperQuestion { run, view, user }),
            Stage::Seeker => Question::Seeker(SeekerQuestion {
                run,
                user,
                ledger,
                packet,
            }),
            Stage::Tracer => Question::Tracer(TracerQuestion {
                run,
                user,
                ledger,
                support: Arc::clone(&self.support),
                packet,
            }),
            Stage::Gd => Question::Gd(GdQuestion {
                run,
                view,
                constraints: Arc::new(vec!["cross by day".to_owned()]),
                roles: Arc::default(),
                turn: 2,
            }),
            _ => Question::Bare(BareQuestion { run, view, user }),
        };
        Ask {
            id: AskId {
                input: 0,
                case_id: "bridge".to_owned(),
                method: self.method,
                judge: 0,
                stage,
                part: 0,
                attempt: 0,
                repeat: 0,
            },
            question,
            previous: None,
            max_output: 4096,
        }
    }

    fn text(&self, stage: Stage) -> String {
        whole_text(&render(&self.ask(stage)))
    }
}

static PROMPTS: LazyLock<Prompts> = LazyLock::new(|| Prompts::embedded().unwrap());

fn render(ask: &Ask) -> Rendered {
    PROMPTS.render(ask).unwrap()
}

fn whole_text(rendered: &Rendered) -> String {
    format!("{}\n\n{}", rendered.system, rendered.user.join("\n\n"))
}

const STAGES: [Stage; 4] = [Stage::Keeper, Stage::Seeker, Stage::Tracer, Stage::Bare];
