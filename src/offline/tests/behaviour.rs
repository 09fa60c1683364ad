//! What moves a verdict and what must not.

use std::sync::Arc;

use super::{bare, chained, errors, keep, ledger_of, run, seek, span, support_of, trace};
use crate::ledger::{ClaimStatus, EvidenceRole, SupportStatus};
use crate::offline::coverage;
use crate::trajectory::Trajectory;

const QUESTION: &str = "Which of the two mills is older, Tarn Mill or Esk Mill?";
const TARN: (&str, &str) = (
    "t",
    "Tarn Mill is a water mill built in 1742. Its wheel was replaced in 1910.",
);
const ESK: (&str, &str) = ("t", "Esk Mill is a water mill built in 1698 by the Colby family.");
const WRONG: (&str, &str) = ("a", "Esk Mill is a water mill built in 1798 by the Colby family.");
const USES: (&str, &str) = ("a", "Since 1798 is later than 1742, Tarn Mill is the older one.");
const FINAL: (&str, &str) = ("a", "<answer>Tarn Mill</answer>");
const NEUTRAL: (&str, &str) = ("a", "Let me see what else there is.");

#[test]
fn a_defect_is_followed_to_its_uses_and_the_answer() {
    let reply = chained(run(QUESTION, &[TARN, ESK, WRONG, USES, FINAL]));
    assert_eq!(reply.tracer.first_error_span.as_deref(), Some("s003"));
    assert_eq!(reply.tracer.error_span_ids, ["s003", "s004", "s005"]);
    let claim = &reply.keeper.claims[0];
    assert_eq!(claim.status, ClaimStatus::Finalized);
    assert_eq!(claim.used_by, ["s004", "s005"]);
    let record = &reply.seeker.support_records[0];
    assert_eq!(record.support_status, SupportStatus::Conflicting);
    let against = record
        .evidence_handles
        .iter()
        .find(|handle| handle.role == EvidenceRole::Conflict)
        .expect("a quote against");
    assert_eq!(against.span_id, "s002");
    assert!(against.text.contains("1698"), "{}", against.text);
    assert!(
        record.missing_support.contains("confidence"),
        "{}",
        record.missing_support
    );
}

#[test]
fn neutral_spans_move_the_finding_with_its_statement() {
    for before in 0..4 {
        for after in 0..3 {
            let mut spans = vec![TARN, ESK];
            spans.extend(std::iter::repeat_n(NEUTRAL, before));
            spans.push(WRONG);
            spans.extend(std::iter::repeat_n(NEUTRAL, after));
            spans.extend([USES, FINAL]);
            let found = errors(QUESTION, &spans);
            let name = |at: usize| format!("s{at:03}");
            let (first, use_) = (3 + before, 4 + before + after);
            assert_eq!(
                found,
                [name(first), name(use_), name(use_ + 1)],
                "{before} before, {after} after"
            );
        }
    }
}

#[test]
fn renamed_ids_change_nothing_but_the_names() {
    let spans = [TARN, ESK, WRONG, USES, FINAL];
    let plain = errors(QUESTION, &spans);
    let names = ["zz", "10", "s1", "last", "s001"];
    let renamed = spans
        .iter()
        .zip(names)
        .map(|((who, text), id)| span(id, who, text))
        .collect();
    let run = Trajectory::new("case", QUESTION, renamed).0;
    let positions =
        |ids: &[String], of: &dyn Fn(&str) -> Option<usize>| ids.iter().map(|id| of(id)).collect::<Vec<_>>();
    let plain_run = super::run(QUESTION, &spans);
    let found = chained(run.clone()).tracer.error_span_ids;
    assert_eq!(
        positions(&plain, &|id| plain_run.position(id)),
        positions(&found, &|id| run.position(id))
    );
}

#[test]
fn the_same_statement_over_another_record_is_no_finding() {
    // The words of the fault are all there; what they went against is not.
    let other = (
        "t",
        "Rook Tower is a lighthouse. Its lamp burned oil and was tended by two keepers.",
    );
    let found = errors(QUESTION, &[other, NEUTRAL, WRONG, USES, FINAL]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn evidence_that_comes_later_is_no_evidence() {
    let found = errors(QUESTION, &[TARN, WRONG, ESK]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_slip_that_is_taken_back_does_no_harm() {
    let sorry = ("a", "Correction: I misread the year of Esk Mill; it was built in 1698.");
    let found = errors(QUESTION, &[TARN, ESK, WRONG, sorry, ("a", "<answer>Esk Mill</answer>")]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_slip_that_the_right_value_replaces_does_no_harm() {
    let right = ("a", "Esk Mill was built in 1698 and Tarn Mill in 1742.");
    let found = errors(QUESTION, &[TARN, ESK, WRONG, right, ("a", "<answer>Esk Mill</answer>")]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_call_that_failed_and_was_repeated_is_no_fault() {
    let failed = ("t", "HTTP 503 Service Unavailable");
    let again = ("a", "That call failed, so I repeat it.");
    let found = errors(
        QUESTION,
        &[
            failed,
            again,
            TARN,
            ESK,
            ("a", "The article says that Esk Mill was built in 1698."),
        ],
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_bare_answer_with_nothing_fetched_is_clean_with_a_note() {
    let run = run(
        QUESTION,
        &[
            ("a", "The answer is Esk Mill, built in 1698."),
            ("a", "<answer>Esk Mill</answer>"),
        ],
    );
    let note = coverage(&run);
    assert!(note.contains("Nothing was fetched"), "{note}");
    let reply = chained(run);
    assert!(reply.tracer.error_span_ids.is_empty());
    assert_eq!(reply.keeper.notes, note);
}

#[test]
fn an_empty_run_is_clean() {
    let reply = chained(run("", &[]));
    assert!(reply.tracer.error_span_ids.is_empty());
    assert!(reply.keeper.claims.is_empty());
}

#[test]
fn what_stands_is_listed_as_standing() {
    let reply = chained(run(
        QUESTION,
        &[TARN, ESK, ("a", "Esk Mill was built in 1698 by the Colby family.")],
    ));
    let record = reply.seeker.support_records.first().expect("a record of what stands");
    assert_eq!(record.support_status, SupportStatus::Direct);
    assert_eq!(record.support_spans, ["s002"]);
    assert!(reply.tracer.error_span_ids.is_empty());
}

#[test]
fn the_tracer_follows_the_support_it_is_given() {
    let run = Arc::new(run(QUESTION, &[TARN, ESK, WRONG, USES, FINAL]));
    let ledger = Arc::new(ledger_of(&run, &keep(&run)));
    let mut support = support_of(&run, &seek(&run, &ledger));
    assert!(
        !trace(&run, Arc::clone(&ledger), support.clone())
            .error_span_ids
            .is_empty()
    );
    for record in &mut support {
        record.support_status = SupportStatus::Direct;
    }
    assert!(trace(&run, ledger, support).error_span_ids.is_empty());
}

#[test]
fn unmarked_spans_are_told_apart_by_how_they_begin() {
    let spans = [
        ("-", "Plan: find the year of each mill, then compare."),
        ("-", "search(\"Tarn Mill built\")"),
        ("-", "Result: County ledger. \"Tarn Mill was built in May 1742.\""),
        ("-", "search(\"Esk Mill built\")"),
        (
            "-",
            "Result: County ledger, Esk Mill. \"In 1688 the site was still a meadow.\" No year of building is given.",
        ),
        ("-", "The ledger says that Tarn Mill was built in May 1724."),
        ("-", "Final answer: Tarn Mill, built in 1724."),
    ];
    assert_eq!(errors(QUESTION, &spans), ["s006", "s007"]);
}

#[test]
fn turns_merged_into_one_span_are_read_by_their_headers() {
    let merged = "[assistant]\nsearch(\"Esk Mill\")\n\n[tool]\nEsk Mill is a water mill built in 1698 by the Colby family.\n\n\
                  [assistant]\nEsk Mill is a water mill built in 1798 by the Colby family.";
    assert_eq!(
        errors(QUESTION, &[("-", "[user]\nWhich mill?"), ("-", merged)]),
        ["s002"]
    );
    let sound = merged.replace("1798", "1698");
    assert!(errors(QUESTION, &[("-", "[user]\nWhich mill?"), ("-", &sound)]).is_empty());
}

#[test]
fn made_up_data_is_named() {
    let code = (
        "a",
        "I load the figures first.\n```python\n# simulated data for the census\nrows = [(1, 20), (2, 31)]\n```",
    );
    let result = ("t", "exitcode: 0 (execution succeeded)\nCode output: 2");
    let end = ("a", "The count is confirmed by the run of the script. The answer is 2.");
    assert_eq!(
        errors("How many rows has the census?", &[code, result, end]),
        ["s001", "s003"]
    );
    let real = (
        "a",
        "I load the figures first.\n```python\nrows = read('census.csv')\n```",
    );
    assert!(errors("How many rows has the census?", &[real, result, end]).is_empty());
}

#[test]
fn every_reason_of_bare_names_its_fault() {
    let run = Arc::new(run(QUESTION, &[TARN, ESK, WRONG, USES, FINAL]));
    let reply = bare(&run);
    assert!(
        reply.reasons[0].reason.starts_with("extraction_parsing: "),
        "{}",
        reply.reasons[0].reason
    );
    assert_eq!(reply.earliest_harmful_span_id.as_deref(), Some("s003"));
}
