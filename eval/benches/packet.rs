//! What the deterministic part of an audit costs: the evidence packet from the run's text, index
//! and all, for five claims. The published code takes 40 ms, 247 ms and 2.45 s CPU for the first
//! three shapes (measured for this project).
//!
//! `cargo bench --bench packet`
#![allow(missing_docs)]

use auditor::evidence::quote::Finder;
use auditor::evidence::{ContextRequest, Index, Packet, PacketLimits, default_budget};
use auditor::trajectory::{Span, Trajectory};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const WORDS: &[&str] = &[
    "the",
    "search",
    "result",
    "lists",
    "a",
    "lighthouse",
    "at",
    "Kestrel",
    "Point",
    "and",
    "of",
    "registry",
    "page",
    "for",
    "1931",
    "was",
    "electric",
    "lamp",
    "in",
    "keeper",
    "wrote",
    "that",
    "no",
    "source",
    "gives",
    "date",
    "to",
    "harbour",
    "answer",
    "is",
    "we",
    "found",
    "it",
    "tool",
    "call",
    "returned",
    "with",
    "query",
    "vessel",
    "built",
];
const CHARACTERS: &str = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经";

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}

/// A run of `spans` spans of `chars` Unicode scalar values each.
fn run(spans: usize, chars: usize, ideographic: bool) -> Trajectory {
    let mut random = Random(7);
    let characters: Vec<char> = CHARACTERS.chars().collect();
    let spans = (0..spans)
        .map(|span| {
            let mut text = String::new();
            let mut length = 0;
            while length < chars {
                if ideographic {
                    text.push(if random.below(20) == 0 {
                        '。'
                    } else {
                        characters[random.below(characters.len())]
                    });
                    length += 1;
                } else {
                    let word = WORDS[random.below(WORDS.len())];
                    text.push_str(word);
                    text.push_str(if random.below(15) == 0 { ".\n" } else { " " });
                    length = text.len();
                }
            }
            Span {
                id: format!("s{:04}", span + 1),
                text,
                raw_start_step: i64::try_from(span).ok(),
                ..Span::default()
            }
        })
        .collect();
    Trajectory::new("bench", "Which lighthouse was electrified first?", spans).0
}

/// Five claims, each with three spans, spread over the run.
fn requests(run: &Trajectory, ideographic: bool) -> Vec<ContextRequest> {
    let claims = if ideographic {
        [
            "这是我们发现的年份",
            "他们用工作生产的方法",
            "国民所得的分成",
            "大学出版的行动",
            "主要来源说明的地方",
        ]
    } else {
        [
            "Kestrel Point was the first lighthouse with an electric lamp, in May 1931, as the keeper wrote",
            "the registry page gives no date for the conversion of the harbour lamp at Marrow Head",
            "the vessel Marigold was built in 1911 and is the one the question asks for",
            "no source that the search returned lists an earlier lighthouse",
            "the answer is Kestrel Point, 1931",
        ]
    };
    let spans = run.spans().len();
    claims
        .iter()
        .enumerate()
        .map(|(claim, text)| ContextRequest {
            claim_id: format!("c{}", claim + 1),
            spans: vec![claim * spans / 6, claim * spans / 6 + 1, (claim + 1) * spans / 6],
            queries: vec![(*text).to_owned()],
        })
        .collect()
}

#[derive(Clone, Copy, Debug)]
enum Method {
    Paper,
    Drift,
}

fn packet(method: Method, run: &Trajectory, requests: &[ContextRequest]) -> Packet {
    let index = Index::new(run, &PacketLimits::default());
    let mut seeds: Vec<usize> = requests.iter().flat_map(|request| request.spans.clone()).collect();
    seeds.push(run.spans().len() - 1);
    match method {
        Method::Paper => index.published(run, &seeds, requests),
        Method::Drift => {
            let constraints = ["the lighthouse was electrified before 1932".to_owned()];
            index.drift(run, &seeds, requests, &constraints, default_budget(run))
        }
    }
}

fn bench(bencher: Bencher<'_, '_>, method: Method, spans: usize, ideographic: bool) {
    let run = run(spans, 20_000, ideographic);
    let requests = requests(&run, ideographic);
    bencher.bench_local(|| packet(black_box(method), black_box(&run), black_box(&requests)));
}

#[divan::bench(args = [12, 100, 1000], sample_count = 15, sample_size = 1)]
fn paper(bencher: Bencher<'_, '_>, spans: usize) {
    bench(bencher, Method::Paper, spans, false);
}

#[divan::bench(args = [12, 100, 1000], sample_count = 15, sample_size = 1)]
fn drift(bencher: Bencher<'_, '_>, spans: usize) {
    bench(bencher, Method::Drift, spans, false);
}

#[divan::bench(args = [Method::Paper, Method::Drift], sample_count = 15, sample_size = 1)]
fn cjk_100(bencher: Bencher<'_, '_>, method: Method) {
    bench(bencher, method, 100, true);
}

/// Twenty quotes that stand nowhere in the run: every span is searched for each.
#[divan::bench(args = [100], sample_count = 10, sample_size = 1)]
fn quotes_not_found(bencher: Bencher<'_, '_>, spans: usize) {
    let run = run(spans, 20_000, false);
    bencher.bench_local(|| {
        let finder = Finder::new(&run);
        (0..20)
            .map(|quote| finder.find(Some(quote), &format!("the keeper wrote of lamp {quote} at Sable Rock")))
            .collect::<Vec<_>>()
    });
}
