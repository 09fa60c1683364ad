//! What the user told, what repeats said, and what a second judge said, for a reader.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::dto::{Prediction, ResultRow, SecondRow, Status};
use super::text::{clipped, folded, plain};
use crate::audit::Outcome;
use crate::audit::votes::Repeats;
use crate::trajectory::Trajectory;

/// What the user told of the run; nothing when nothing was told.
pub(super) fn user(out: &mut String, row: &ResultRow) {
    let outcome = match row.user.outcome {
        Outcome::Failed => Some("it ended with a wrong result"),
        Outcome::Correct => Some("it ended with the right result"),
        Outcome::Unknown => None,
    };
    let answer = row
        .user
        .reference_answer
        .as_deref()
        .map(|answer| format!("the right answer is \"{}\"", clipped(answer)));
    let told: Vec<String> = outcome.map(str::to_owned).into_iter().chain(answer).collect();
    if !told.is_empty() {
        folded(out, "Told by the user: ", "  ", &told.join("; "));
    }
}

/// The spread of the repeats of the first judge.
pub(super) fn repeats(out: &mut String, row: &ResultRow, run: Option<&Trajectory>) {
    let Some(repeats) = &row.repeats else { return };
    let text = spread(repeats, row.votes.as_ref(), row.fleiss_kappa, run);
    folded(out, "Repeats ", "        ", &text);
    for failed in &repeats.failed {
        let word = if failed.refused { "was refused" } else { "failed" };
        folded(
            out,
            &format!("        repeat {} {word}: ", failed.repeat + 1),
            "          ",
            &clipped(&failed.cause.message),
        );
    }
}

fn spread(
    repeats: &Repeats,
    votes: Option<&BTreeMap<String, u32>>,
    kappa: Option<f64>,
    run: Option<&Trajectory>,
) -> String {
    let Repeats {
        asked, ok, same_first, ..
    } = repeats;
    let mut votes: Vec<(&String, u32)> = votes.into_iter().flatten().map(|(id, votes)| (id, *votes)).collect();
    votes.sort_by_key(|(id, _)| run.and_then(|run| run.position(id)));
    let votes = if votes.is_empty() {
        "no span named".to_owned()
    } else {
        let each = votes.iter().map(|(id, votes)| format!("{} {votes}/{asked}", plain(id)));
        format!("votes {}", each.collect::<Vec<_>>().join(", "))
    };
    let same = same_first.map_or(String::new(), |share| {
        format!("; {:.0} % agree on the first span", share * 100.0)
    });
    format!(
        "{ok} of {asked} have a verdict; {votes}{same}; {}",
        number("Fleiss' κ", kappa)
    )
}

fn number(name: &str, kappa: Option<f64>) -> String {
    kappa.map_or_else(|| format!("{name} is undefined"), |kappa| format!("{name} {kappa:.2}"))
}

/// What the second judge said, and where both agree.
pub(super) fn second(out: &mut String, row: &ResultRow) {
    let Some(second) = &row.second else { return };
    let name = second
        .judge
        .model
        .as_deref()
        .map_or_else(|| second.judge.kind.word().to_owned(), plain);
    folded(out, &format!("Second judge ({name}): "), "  ", &said(second));
    if let Some(both) = &second.agreement {
        let list = |ids: &[String]| match ids {
            [] => "none".to_owned(),
            ids => ids.iter().map(|id| plain(id)).collect::<Vec<_>>().join(" "),
        };
        let same = if both.same_first {
            "the same first span"
        } else {
            "another first span"
        };
        let text = format!(
            "both name {}; only the first judge {}; only the second {}; {same}; {}",
            list(&both.both),
            list(&both.only_first),
            list(&both.only_second),
            number("Cohen's κ", both.kappa)
        );
        folded(out, "Agreement: ", "  ", &text);
    }
    if second.agreed_only {
        let _ = writeln!(out, "Only spans that both judges name are reported (--agree).");
    }
}

fn said(second: &SecondRow) -> String {
    let cause = || {
        second
            .cause
            .as_ref()
            .map_or(String::new(), |cause| format!(": {}", clipped(&cause.message)))
    };
    match (second.status, &second.prediction) {
        (Status::Ok, Some(Prediction { error_span_ids, .. })) if error_span_ids.is_empty() => {
            "no harmful span was found".to_owned()
        }
        (Status::Ok, Some(Prediction { error_span_ids, .. })) => {
            format!(
                "harmful are {}",
                error_span_ids.iter().map(|id| plain(id)).collect::<Vec<_>>().join(" ")
            )
        }
        (Status::Refused, _) => format!("refused{}", cause()),
        (Status::NotRun, _) => format!("not run{}", cause()),
        _ => format!("failed{}", cause()),
    }
}
