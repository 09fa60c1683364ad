//! Data that the agent made up, used as if it had been found.

use super::{Check, Defect, Place, Trail};
use crate::ledger::SupportStatus;
use crate::offline::case::Case;
use crate::offline::lexicon::{self, Cue};
use crate::offline::roles::Role;
use crate::offline::statements::Standing;
use crate::offline::text;

/// The first code or statement that makes data up, if the run then answers from it.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Defect>) {
    let Some(answer) = case.statements.iter().rposition(|statement| {
        statement.standing == Standing::Settled
            && (statement.answer || statement.cues.has(Cue::Answer) || statement.cues.has(Cue::Commit))
    }) else {
        return;
    };
    for segment in case.segments.iter().filter(|segment| segment.role == Role::Code) {
        let text = case.run.spans().get(segment.span).map_or("", |span| span.text.as_str());
        let made_up = text::sentences(text, segment.start, segment.end, false)
            .into_iter()
            .find(|(start, end)| {
                let line = text.get(*start..*end).unwrap_or("").to_lowercase();
                lexicon::cues(&line).has(Cue::Invented)
            });
        let Some((start, end)) = made_up else { continue };
        // The statement that introduces the code, in the same span, carries the claim.
        let Some(index) = case
            .statements
            .iter()
            .position(|statement| statement.span == segment.span)
        else {
            continue;
        };
        if index >= answer {
            return;
        }
        out.push(Defect {
            check: Check::Invented,
            statement: index,
            place: Place {
                span: segment.span,
                start,
                end,
            },
            focus: start,
            against: None,
            support: SupportStatus::Missing,
            why: "makes its data up, and the run answers from it".to_owned(),
            counted: 2,
            trail: Trail {
                all: true,
                ..Trail::default()
            },
        });
        return;
    }
}
