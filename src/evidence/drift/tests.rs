use proptest::prelude::*;

use super::*;
use crate::trajectory::Span;

const FILLER: &[&str] = &[
    "amber", "basin", "copper", "delta", "ember", "fjord", "garnet", "harbor", "indigo", "juniper", "kelp", "lantern",
    "marble", "nectar", "onyx", "pebble", "quartz", "ripple", "saffron", "timber", "umber", "velvet", "willow",
];

/// Length of a span of filler: a few chunks, so that a run of them is far over the budget.
const SPAN: usize = 4000;

/// Words without meaning, the same for the same seed.
fn filler(seed: usize, chars: usize) -> String {
    let mut state = seed as u64 + 1;
    let mut text = String::new();
    while text.len() < chars {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        text.push_str(FILLER[(state >> 33) as usize % FILLER.len()]);
        text.push_str(if state >> 60 == 0 { ". " } else { " " });
    }
    text
}

fn run(texts: Vec<String>) -> Trajectory {
    let spans = texts
        .into_iter()
        .enumerate()
        .map(|(index, text)| Span {
            id: format!("s{:03}", index + 1),
            text,
            ..Span::default()
        })
        .collect();
    Trajectory::new("r", "q", spans).0
}

/// A run of `spans` spans of filler with `fact` in the middle of the span at `place`.
fn run_with(spans: usize, place: usize, fact: &str) -> Trajectory {
    let texts = (0..spans).map(|span| {
        let mut text = filler(span, SPAN);
        if span == place {
            text.insert_str(SPAN / 2, &format!(". {fact} "));
        }
        text
    });
    run(texts.collect())
}

fn request(claim_id: &str, spans: &[usize], query: &str) -> ContextRequest {
    ContextRequest {
        claim_id: claim_id.to_owned(),
        spans: spans.to_vec(),
        queries: vec![query.to_owned()],
    }
}

fn packet(run: &Trajectory, requests: &[ContextRequest], constraints: &[&str]) -> Packet {
    let constraints: Vec<String> = constraints.iter().map(|text| (*text).to_owned()).collect();
    let index = Index::new(run, &PacketLimits::default());
    let packet = index.drift(run, &[], requests, &constraints, default_budget(run));
    check(run, &packet, default_budget(run));
    packet
}

/// Within its budget, in order, without overlap, ids unique, rows in bounds.
fn check(run: &Trajectory, packet: &Packet, budget: usize) {
    assert!(packet.chars() <= budget, "{} > {budget}", packet.chars());
    let mut ids = std::collections::HashSet::new();
    for pair in packet.chunks.windows(2) {
        assert!((pair[0].span, pair[0].chars.end) < (pair[1].span, pair[1].chars.start.max(1)));
    }
    for chunk in &packet.chunks {
        assert!(ids.insert(chunk.id(run)));
        assert_eq!(chunk.text(run).chars().count(), chunk.chars.len());
    }
    for row in &packet.grep {
        assert!(row.chunks.iter().all(|&chunk| chunk < packet.chunks.len()));
        assert!(row.spans.iter().all(|span| packet.spans().contains(span)));
    }
}

fn shows(run: &Trajectory, packet: &Packet, words: &str) -> bool {
    packet.chunks.iter().any(|chunk| chunk.text(run).contains(words))
}

#[test]
fn a_small_run_is_there_whole() {
    let run = run(vec!["One.".into(), String::new(), "Two.".into()]);
    let packet = packet(&run, &[], &[]);
    assert_eq!(packet.chars(), 8);
    assert_eq!(packet.spans(), [0, 1, 2]);
}

#[test]
fn the_default_budget_is_a_share_of_the_run_and_never_more_than_published() {
    let of = |chars: usize| default_budget(&run(vec!["x".repeat(chars)]));
    assert_eq!(of(100), SMALL_RUN_CHARS);
    assert_eq!(of(24_000), 13_200);
    assert_eq!(of(1_000_000), 32_400);
}

#[test]
fn the_statement_is_found_in_the_middle_of_a_long_span() {
    let fact = "We settle on Kestrel Point as the lighthouse in question.";
    let run = run_with(40, 7, fact);
    let request = request("c1", &[3, 7], "Kestrel Point is the lighthouse asked for");
    let packet = packet(&run, &[request], &[]);
    assert!(shows(&run, &packet, fact));
    for span in [3, 7, 39] {
        assert!(packet.spans().contains(&span), "{span}");
    }
}

/// Both methods reach a fact at the end of a span of 75,000 characters.
#[test]
fn the_fact_at_the_end_of_a_very_long_span() {
    let fact = "Footnote: the lamp of Kestrel Point was oil until 1931.";
    let run = run(vec![
        filler(1, 500),
        format!("{}{fact}", filler(2, 75_000)),
        filler(3, 500),
    ]);
    let request = request("c1", &[1], "the lamp of Kestrel Point was electric before 1931");
    assert!(shows(&run, &packet(&run, std::slice::from_ref(&request), &[]), fact));
    let published = Index::new(&run, &PacketLimits::default()).published(&run, &[1, 2], &[request]);
    assert!(shows(&run, &published, fact));
}

#[test]
fn the_end_of_the_run_is_always_there() {
    let mut texts: Vec<String> = (0..30).map(|span| filler(span, 5000)).collect();
    texts.push(format!("{} Final answer: forty-two.", filler(99, 9000)));
    let run = run(texts);
    let requests: Vec<ContextRequest> = (0..8)
        .map(|claim| request(&format!("c{claim}"), &(0..30).collect::<Vec<_>>(), "amber basin copper"))
        .collect();
    assert!(shows(&run, &packet(&run, &requests, &[]), "Final answer: forty-two."));
}

#[test]
fn no_claim_and_no_hit_is_crowded_out() {
    let facts: Vec<String> = (0..8)
        .map(|claim| format!("The registry of Northgate{claim} lists vessel V{claim}77."))
        .collect();
    let mut texts: Vec<String> = (0..60).map(|span| filler(span, SPAN)).collect();
    for (claim, fact) in facts.iter().enumerate() {
        texts[50 + claim].insert_str(SPAN / 2, &format!(" {fact} "));
    }
    let run = run(texts);
    let requests: Vec<ContextRequest> = (0..8)
        .map(|claim| {
            let query = format!("vessel V{claim}77 is in the registry of Northgate{claim}");
            request(
                &format!("c{claim}"),
                &[claim * 3, claim * 3 + 1, claim * 3 + 24],
                &query,
            )
        })
        .collect();
    let packet = packet(&run, &requests, &["the vessel must be amber"]);
    for (claim, fact) in facts.iter().enumerate() {
        assert!(shows(&run, &packet, fact), "{fact}");
        let row = packet
            .grep
            .iter()
            .find(|row| row.claim_id == format!("c{claim}"))
            .expect("a row");
        assert!(row.spans.contains(&(50 + claim)));
        for span in &requests[claim].spans {
            assert!(packet.spans().contains(span));
        }
    }
}

#[test]
fn scripts_without_spaces_and_with_marks() {
    for (fact, query) in [
        ("档案记载，红崖灯塔于一九三一年改用电灯。", "红崖灯塔一九三一年改电灯"),
        (
            "記録によると、赤崎灯台は昭和六年に電化された。",
            "赤崎灯台の電化は昭和六年",
        ),
        ("ประภาคารผาแดงเปลี่ยนมาใช้ไฟฟ้าในปี ๒๔๗๔", "ประภาคารผาแดงใช้ไฟฟ้าปี ๒๔๗๔"),
        ("लाल चट्टान का प्रकाशस्तंभ १९३१ में बिजली से चलने लगा।", "प्रकाशस्तंभ १९३१ में बिजली"),
        (
            "המגדלור בצוק האדום חושמל בשנת 1931.",
            "מגדלור הצוק: הַמִּגְדַּלּוֹר חֻשְׁמַל בשנת 1931",
        ),
        (
            "Le phare de l'Île-Rouge fut e\u{301}lectrifie\u{301} en mai.",
            "phare de l'Île-Rouge \u{e9}lectrifi\u{e9}",
        ),
    ] {
        let run = run_with(30, 12, fact);
        assert!(
            shows(&run, &packet(&run, &[request("c1", &[2], query)], &[]), fact),
            "{query}"
        );
    }
}

#[test]
fn text_of_one_script_throughout() {
    let sentence = "我们在网上查找资料，但是没有找到有用的结果，于是继续搜索下一个网站。";
    let mut texts: Vec<String> = (0..20).map(|_| sentence.repeat(60)).collect();
    texts[11].insert_str(sentence.len() * 30, "码头名册写着海燕号于一九二四年建成。");
    let run = run(texts);
    let packet = packet(&run, &[request("c1", &[3], "海燕号建于一九二四年")], &[]);
    assert!(shows(&run, &packet, "海燕号于一九二四年建成"));
}

#[test]
fn short_words_numbers_and_names_are_searched_for_themselves() {
    let mut texts: Vec<String> = (0..40).map(|span| filler(span, SPAN)).collect();
    texts[9].insert_str(SPAN / 2, " The UK file is kept there. ");
    texts[17].insert_str(SPAN / 2, " A total of 12,450 crates went ashore. ");
    texts[23].insert_str(SPAN / 2, " Signed by Ada Whitlock. ");
    texts[31].insert_str(SPAN / 2, " It reads so: dry salt only. ");
    let run = run(texts);
    let claim = "As Ada Whitlock wrote, 12,450 crates of \"dry salt\" left the UK, amber basin copper delta";
    let packet = packet(&run, &[request("c1", &[0], claim)], &[]);
    for words in ["The UK file", "12,450 crates", "Ada Whitlock", "dry salt only"] {
        assert!(shows(&run, &packet, words), "{words}");
    }
    let queries: Vec<&str> = packet.grep.iter().map(|row| row.query.as_str()).collect();
    assert_eq!(queries, [claim, "dry salt", "Ada Whitlock", "12,450", "UK"]);
}

#[test]
fn a_constraint_finds_its_evidence() {
    let run = run_with(40, 21, "The hull was laid down in 1911 at Brindle Yard.");
    let packet = packet(
        &run,
        &[request("c1", &[0], "amber basin")],
        &["built at Brindle Yard before 1912"],
    );
    assert!(shows(&run, &packet, "at Brindle Yard"));
    assert!(
        packet
            .grep
            .iter()
            .any(|row| row.claim_id.is_empty() && row.query == "Brindle Yard" && !row.chunks.is_empty())
    );
}

fn best(texts: &[&str], query: &str) -> Vec<usize> {
    let run = run(texts.iter().map(|text| (*text).to_owned()).collect());
    let index = Index::new(&run, &PacketLimits::default());
    let mut queries = Queries::default();
    let query = queries.enter(query);
    let searchable = index.searchable(&run);
    let found = queries.search(searchable);
    found.relevance(&query).ranked(0..texts.len(), 0.0, texts.len())
}

#[test]
fn rare_words_count_more_than_frequent_ones() {
    assert_eq!(
        best(
            &["the ship the ship ship", "a ship", "marigold", "ship"],
            "the ship marigold"
        )[0],
        2
    );
}

#[test]
fn whole_words_come_before_parts_and_stop_words_do_not_count() {
    assert_eq!(best(&["artistry partial cartart", "some art here"], "art"), [1]);
    assert_eq!(
        best(&["lighthouses", "a lighthouse", "the and of"], "the lighthouse"),
        [1, 0]
    );
    assert_eq!(
        best(&["its electrification", "nothing", "unelectrified"], "electrified"),
        [0]
    );
    assert_eq!(best(&["who the are"], "the who"), [0]);
}

#[test]
fn the_query_in_its_own_words_comes_first() {
    let texts = [
        "point kestrel red. red point. kestrel kestrel",
        "at kestrel point red",
        "none",
    ];
    assert_eq!(best(&texts, "kestrel point"), [1, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn never_over_budget_whatever_the_run(
        texts in prop::collection::vec("([a-zA-Z]{1,7}[ .\n]|\\PC|。|[0-9]{1,3} ){0,300}", 0..6),
        spans in prop::collection::vec(0_usize..8, 0..6),
        query in "[a-zA-Z0-9 \"]{0,30}|\\PC{0,20}",
        budget in 0_usize..3000,
    ) {
        let run = run(texts);
        let requests = [request("c1", &spans, &query), request("c2", &spans, "")];
        let index = Index::new(&run, &PacketLimits::default());
        let packet = index.drift(&run, &spans, &requests, &[query], budget);
        check(&run, &packet, budget);
        let published = index.published(&run, &spans, &requests);
        prop_assert!(published.chunks.len() <= PacketLimits::default().total_chunks);
        prop_assert!(published.chars() <= PacketLimits::default().chars());
    }

    #[test]
    fn own_spans_and_the_last_are_always_there(
        lengths in prop::collection::vec(0_usize..2500, 1..25),
        picks in prop::collection::vec(prop::collection::vec(0_usize..25, 0..3), 1..8),
    ) {
        let run = run(lengths.iter().enumerate().map(|(span, &length)| filler(span, length)).collect());
        let requests: Vec<ContextRequest> = picks
            .iter()
            .enumerate()
            .map(|(claim, spans)| request(&format!("c{claim}"), spans, FILLER[claim]))
            .collect();
        let packet = packet(&run, &requests, &[]);
        let there = packet.spans();
        prop_assert!(there.contains(&(lengths.len() - 1)));
        for span in requests.iter().flat_map(|request| &request.spans).filter(|&&span| span < lengths.len()) {
            prop_assert!(there.contains(span));
        }
    }
}
