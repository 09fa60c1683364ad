//! Which turns the judge is asked about when cheaper tiers have spoken already.

use std::str::FromStr;

use super::rubric::Thresholds;

/// The alignments that a cheap tier cannot decide, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    low: f64,
    high: f64,
}

/// A band that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a band is LOW..HIGH with 0 <= LOW <= HIGH <= 1, such as 0.3..0.7; \"{0}\" is none")]
pub struct BandError(String);

impl FromStr for Band {
    type Err = BandError;

    fn from_str(text: &str) -> Result<Self, BandError> {
        let ends = text
            .split_once("..")
            .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
        ends.and_then(|(low, high)| Self::new(low, high))
            .ok_or_else(|| BandError(text.to_owned()))
    }
}

impl Band {
    /// A band; `None` unless `0 <= low <= high <= 1`.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (0.0 <= low && low <= high && high <= 1.0).then_some(Self { low, high })
    }

    /// Is this alignment undecided?
    #[must_use]
    pub fn holds(&self, alignment: f64) -> bool {
        (self.low..=self.high).contains(&alignment)
    }

    /// Is this alignment above the band: did the tier clear the turn?
    #[must_use]
    pub fn clears(&self, alignment: f64) -> bool {
        alignment > self.high
    }
}

/// A seeded share of the cleared turns that is judged all the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AuditRate {
    /// From 0 to 1.
    pub share: f64,
    /// Seed of the draws.
    pub seed: u64,
}

impl AuditRate {
    /// Is this turn drawn? Each turn is drawn for itself from the seed, the request's id and its own id, so that the
    /// draw depends neither on the order of the requests nor on what else is in them.
    #[must_use]
    pub fn draws(&self, request: &str, turn: &str) -> bool {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes());
        for part in [request, turn] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut bits = [0_u8; 8];
        hasher.finalize_xof().fill(&mut bits);
        // 53 bits make every double of [0, 1) that is a multiple of 2⁻⁵³ equally likely.
        let drawn = (u64::from_le_bytes(bits) >> 11) as f64 / (1_u64 << 53) as f64;
        drawn < self.share
    }
}

/// How a turn is decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// The judge is asked.
    Ask,
    /// A cheaper tier cleared the turn; the judge is asked to check on it.
    Check,
    /// A cheaper tier decides.
    Pass {
        /// Its name.
        tier: String,
        /// What it said.
        alignment: f64,
    },
}

/// How turns are decided and labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// Where labels begin and end.
    pub thresholds: Thresholds,
    /// What is undecided by a cheap tier; without it the judge is asked about every turn.
    pub band: Option<Band>,
    /// Which cleared turns are judged all the same.
    pub audit: Option<AuditRate>,
}

impl Policy {
    /// How a turn is decided, given the last tier that spoke about it and the alignment it gave. A turn about which no
    /// tier spoke is undecided.
    #[must_use]
    pub fn plan(&self, request: &str, turn: &str, prior: Option<(&str, f64)>) -> Plan {
        let (Some(band), Some((tier, alignment))) = (self.band, prior) else {
            return Plan::Ask;
        };
        if band.holds(alignment) {
            return Plan::Ask;
        }
        if band.clears(alignment) && self.audit.is_some_and(|audit| audit.draws(request, turn)) {
            return Plan::Check;
        }
        Plan::Pass {
            tier: tier.to_owned(),
            alignment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_read_or_refused() {
        let band: Band = "0.3..0.7".parse().unwrap();
        assert!(band.holds(0.3) && band.holds(0.7) && !band.holds(0.71) && band.clears(0.71) && !band.clears(0.2));
        for bad in ["0.7..0.3", "0.3", "a..b", "-1..0.5", "0..2", "NaN..1"] {
            assert!(bad.parse::<Band>().is_err(), "{bad}");
        }
    }

    #[test]
    fn only_the_undecided_are_asked_about() {
        let policy = Policy {
            band: Band::new(0.3, 0.7),
            ..Policy::default()
        };
        assert_eq!(policy.plan("r", "t", None), Plan::Ask);
        assert_eq!(policy.plan("r", "t", Some(("nli", 0.5))), Plan::Ask);
        assert_eq!(
            policy.plan("r", "t", Some(("nli", 0.1))),
            Plan::Pass {
                tier: "nli".to_owned(),
                alignment: 0.1
            }
        );
        assert_eq!(
            policy.plan("r", "t", Some(("nli", 0.9))),
            Plan::Pass {
                tier: "nli".to_owned(),
                alignment: 0.9
            }
        );
        assert_eq!(Policy::default().plan("r", "t", Some(("nli", 0.9))), Plan::Ask);
    }

    #[test]
    fn the_share_is_drawn_from_the_seed() {
        let drawn = |seed, share| {
            (0..2000)
                .filter(|n| AuditRate { share, seed }.draws("r", &format!("t{n}")))
                .count()
        };
        assert_eq!(drawn(7, 0.25), drawn(7, 0.25));
        assert!((400..600).contains(&drawn(7, 0.25)), "{}", drawn(7, 0.25));
        let same = (0..200).filter(|n| {
            let turn = format!("t{n}");
            AuditRate { share: 0.5, seed: 1 }.draws("r", &turn) == AuditRate { share: 0.5, seed: 2 }.draws("r", &turn)
        });
        assert!(same.count() < 150);
        assert_eq!((drawn(1, 0.0), drawn(1, 1.0)), (0, 2000));
        let low = Policy {
            band: Band::new(0.3, 0.7),
            audit: Some(AuditRate { share: 1.0, seed: 0 }),
            ..Policy::default()
        };
        assert_eq!(low.plan("r", "t", Some(("nli", 0.9))), Plan::Check);
        assert!(
            matches!(low.plan("r", "t", Some(("nli", 0.1))), Plan::Pass { .. }),
            "only cleared turns are checked on"
        );
    }
}
