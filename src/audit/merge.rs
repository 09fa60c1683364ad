//! The ledgers of a run's windows as one.

use super::keeper::Read;
use super::paper::MAX_CLAIMS;
use crate::evidence::same_claim;
use crate::ledger::{Claim, ClaimStatus, Ledger};
use crate::trajectory::{Stage, Trajectory, Warning, WarningCode};

/// Hard constraints kept; a reply's schema allows as many.
const MAX_CONSTRAINTS: usize = 12;
/// Characters of remarks kept of all windows together.
const MAX_NOTES: usize = 600;

/// One ledger from those of the windows, in the order of the run. The same claim in several windows is
/// one claim with its trail joined. At most [`MAX_CLAIMS`] are kept, those that went furthest first, then
/// those that more windows and more spans know of; what is left out is told. Ids are given anew in the
/// order in which the claims were introduced. The ledger of a single window is kept as it is.
pub(super) fn ledgers(run: &Trajectory, mut parts: Vec<Ledger>) -> Read<Ledger> {
    let read = |value, warnings| Read {
        value,
        rejected: Vec::new(),
        warnings,
    };
    if parts.len() <= 1 {
        return read(parts.pop().unwrap_or_default(), Vec::new());
    }
    let mut merged = Ledger::default();
    let mut claims: Vec<(Claim, usize)> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    for part in parts {
        if merged.task_goal.is_empty() {
            merged.task_goal = part.task_goal;
        }
        for constraint in part.hard_constraints {
            let known = merged
                .hard_constraints
                .iter()
                .any(|known| *known == constraint || same_claim(known, &constraint));
            if !known && merged.hard_constraints.len() < MAX_CONSTRAINTS {
                merged.hard_constraints.push(constraint);
            }
        }
        if !part.notes.trim().is_empty() && !notes.contains(&part.notes) {
            notes.push(part.notes);
        }
        for claim in part.claims {
            match claims
                .iter_mut()
                .find(|(known, _)| known.claim == claim.claim || same_claim(&known.claim, &claim.claim))
            {
                Some((known, windows)) => {
                    *windows += 1;
                    join(run, known, claim);
                }
                None => claims.push((claim, 1)),
            }
        }
    }
    merged.notes = notes.join(" ").chars().take(MAX_NOTES).collect();
    let all = claims.len();
    claims.sort_by_key(|(claim, windows)| std::cmp::Reverse((rank(claim.status), *windows, claim.used_by.len())));
    claims.truncate(MAX_CLAIMS);
    merged.claims = claims.into_iter().map(|(claim, _)| claim).collect();
    merged
        .claims
        .sort_by_key(|claim| position(run, claim.introduced_at.as_ref()).unwrap_or(usize::MAX));
    for (number, claim) in (1..).zip(&mut merged.claims) {
        claim.claim_id = format!("c{number}");
    }
    let warning = (all > MAX_CLAIMS).then(|| {
        let message =
            format!("the windows of the run gave {all} claims; the {MAX_CLAIMS} that went furthest were kept");
        Warning::new(WarningCode::TextOmitted, message).in_stage(Stage::Keeper)
    });
    read(merged, warning.into_iter().collect())
}

/// The same claim as a later window tells it: the trail begins where either saw it begin; a span that
/// the later one takes for the beginning is one that states it again, as settled if it says so.
fn join(run: &Trajectory, known: &mut Claim, later: Claim) {
    let at = |id: &Option<String>| position(run, id.as_ref());
    let mut used: Vec<usize> = known
        .used_by
        .iter()
        .chain(&later.used_by)
        .filter_map(|id| run.position(id))
        .collect();
    let settled = [at(&known.becomes_consequential_at), at(&later.becomes_consequential_at)];
    let introduced = [at(&known.introduced_at), at(&later.introduced_at)];
    let first_settled = settled.into_iter().flatten().min();
    used.extend(
        settled
            .into_iter()
            .flatten()
            .filter(|position| Some(*position) != first_settled),
    );
    used.sort_unstable();
    used.dedup();
    let id = |position: Option<usize>| position.map(|position| run.id_at(position).to_owned());
    known.introduced_at = id(introduced.into_iter().flatten().min());
    known.becomes_consequential_at = id(first_settled);
    known.used_by = used
        .into_iter()
        .map(|position| run.id_at(position).to_owned())
        .collect();
    if rank(later.status) > rank(known.status) {
        known.status = later.status;
    }
    for quote in later.quotes {
        if !known.quotes.contains(&quote) {
            known.quotes.push(quote);
        }
    }
}

fn position(run: &Trajectory, id: Option<&String>) -> Option<usize> {
    id.and_then(|id| run.position(id))
}

/// How far a claim went.
fn rank(status: ClaimStatus) -> u8 {
    match status {
        ClaimStatus::Exploratory => 0,
        ClaimStatus::Tentative => 1,
        ClaimStatus::Consequential => 2,
        ClaimStatus::Finalized => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Span;

    fn run() -> Trajectory {
        let spans = (1..=20).map(|n| Span {
            id: format!("s{n}"),
            text: format!("step {n}"),
            ..Span::default()
        });
        Trajectory::new("r", "q", spans.collect()).0
    }

    fn claim(text: &str, introduced: usize, settled: Option<usize>, used: &[usize], status: ClaimStatus) -> Claim {
        Claim {
            claim_id: "c1".to_owned(),
            claim: text.to_owned(),
            introduced_at: Some(format!("s{introduced}")),
            becomes_consequential_at: settled.map(|n| format!("s{n}")),
            used_by: used.iter().map(|n| format!("s{n}")).collect(),
            status,
            ..Claim::default()
        }
    }

    fn ledger(claims: Vec<Claim>) -> Ledger {
        let hard_constraints = vec!["the first fare counts".to_owned()];
        Ledger {
            task_goal: "goal".to_owned(),
            hard_constraints,
            claims,
            notes: String::new(),
        }
    }

    #[test]
    fn one_claim_in_two_windows_has_one_trail() {
        let run = run();
        let early = claim(
            "Tam Hesk built the mill in 1788.",
            3,
            None,
            &[5],
            ClaimStatus::Tentative,
        );
        let late = claim(
            "The mill was built by Tam Hesk in 1788.",
            9,
            Some(12),
            &[20],
            ClaimStatus::Finalized,
        );
        let other = claim("The fare was fourpence.", 2, Some(2), &[], ClaimStatus::Consequential);
        let read = ledgers(&run, vec![ledger(vec![early]), ledger(vec![late, other])]);
        let claims = &read.value.claims;
        assert_eq!(claims.len(), 2);
        assert_eq!(
            claims.iter().map(|claim| claim.claim_id.as_str()).collect::<Vec<_>>(),
            ["c1", "c2"]
        );
        assert!(claims[0].claim.contains("fare"), "in the order of introduction");
        let joined = &claims[1];
        assert_eq!(joined.introduced_at.as_deref(), Some("s3"));
        assert_eq!(joined.becomes_consequential_at.as_deref(), Some("s12"));
        assert_eq!(joined.used_by, ["s5", "s20"]);
        assert_eq!(joined.status, ClaimStatus::Finalized);
        assert_eq!(read.value.hard_constraints.len(), 1);
        assert!(read.warnings.is_empty());
    }

    #[test]
    fn a_second_settling_is_a_use_of_the_first() {
        let a = claim("Tam Hesk built the mill.", 3, Some(4), &[5], ClaimStatus::Consequential);
        let b = claim("Tam Hesk built the mill.", 4, Some(9), &[], ClaimStatus::Consequential);
        let read = ledgers(&run(), vec![ledger(vec![a]), ledger(vec![b])]);
        assert_eq!(read.value.claims[0].used_by, ["s5", "s9"]);
        assert_eq!(read.value.claims[0].becomes_consequential_at.as_deref(), Some("s4"));
    }

    #[test]
    fn of_too_many_those_that_matter_stay_and_the_rest_is_told() {
        let names = [
            "Ash", "Birk", "Cedar", "Dorn", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper", "Kelp",
        ];
        let mut all: Vec<Claim> = names
            .iter()
            .enumerate()
            .map(|(n, name)| {
                claim(
                    &format!("It was Mr {name} of {name}ford."),
                    n + 1,
                    None,
                    &[],
                    ClaimStatus::Exploratory,
                )
            })
            .collect();
        all[9].status = ClaimStatus::Finalized;
        let second = all.split_off(6);
        let read = ledgers(&run(), vec![ledger(all), ledger(second)]);
        assert_eq!(read.value.claims.len(), MAX_CLAIMS);
        assert!(read.value.claims.iter().any(|claim| claim.claim.contains("Juniper")));
        assert!(read.warnings[0].message.contains("11 claims"), "{:?}", read.warnings);
    }

    #[test]
    fn one_window_is_kept_as_it_is() {
        let only = ledger(vec![Claim {
            claim_id: "odd".to_owned(),
            ..claim("x", 1, None, &[], ClaimStatus::Tentative)
        }]);
        assert_eq!(ledgers(&run(), vec![only.clone()]).value, only);
    }
}
