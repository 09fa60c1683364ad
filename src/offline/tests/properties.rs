//! No run makes it panic; every quote stands in its span; the same run gets the same answer.

use proptest::prelude::*;

use super::{chained, span};
use crate::trajectory::Trajectory;

/// Fragments that reach the readers' corners, mixed with anything.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("[assistant]\n".to_owned()),
        Just("\n[tool]\n".to_owned()),
        Just("<answer>".to_owned()),
        Just("</answer>".to_owned()),
        Just("<think>".to_owned()),
        Just("<tool_call ".to_owned()),
        Just("```\n".to_owned()),
        Just("{\"result\": [{\"contents\": \"".to_owned()),
        Just("\\n\\\"é".to_owned()),
        Just("The article says that it was built on 14 June 1887. ".to_owned()),
        Just("Error: timed out. ".to_owned()),
        Just("12 km plus 30 km gives 41 km. ".to_owned()),
        Just("from weekly to daily, aged 97, 3/4/1926, 1,419.5 ".to_owned()),
        Just("答案是1887年，约412米。".to_owned()),
        Just("It could not be determined. ".to_owned()),
        Just("\u{301}\u{200d}İ\u{1f1e6}ß".to_owned()),
        ".{0,40}",
        "[0-9.,/:-]{1,12}",
        "[A-Z][a-z]{2,9}( [A-Z][a-z]{2,9})?",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(fragment(), 0..14).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_run_is_answered_and_every_quote_stands(
        question in text(),
        spans in prop::collection::vec((prop::sample::select(vec!["a", "t", "u", "-"]), text()), 0..8),
    ) {
        let spans: Vec<_> = spans.iter().enumerate().map(|(at, (who, text))| span(&format!("s{at}"), who, text)).collect();
        let run = Trajectory::new("case", question, spans).0;
        let once = chained(run.clone());
        let twice = chained(run);
        prop_assert_eq!(once.keeper, twice.keeper);
        prop_assert_eq!(once.tracer, twice.tracer);
    }
}
