//! Which results are ranked low enough on both axes to leave the surface (docs/prune.md 3.6).

use crate::sorted::{by_seq, by_value};
use thiserror::Error;

/// One judged result. An axis that is missing or not finite keeps it out of the population.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The result's seq.
    pub seq: u32,
    /// Probability, or rank, that the content is still needed.
    pub need: f64,
    /// Probability, or rank, that the call changed state outside the session.
    pub effect: f64,
}

/// How the two axes decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// In the lowest share of both axes at once.
    Relative {
        /// The share of the population that counts as a tail, 0 to 1; 0 turns receipts off.
        quantile: f64,
        /// Below this many judged results the floor decides.
        min_relative: usize,
        /// Below this many judged results nothing is eligible.
        min_floor: usize,
        /// Both axes under this value, where a ranking says nothing.
        floor: f64,
    },
    /// Both axes under one threshold.
    Absolute {
        /// The threshold, 0 to 1.
        threshold: f64,
    },
}

/// A quantile or threshold that is no share. It is an error and never an empty answer: a typo must not
/// look like a quiet session.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{key} must be a number from 0 to 1, but it is {value}")]
pub struct ShareError {
    /// The configuration key.
    pub key: &'static str,
    /// The value as it was given.
    pub value: f64,
}

/// The eligible seqs, ascending.
///
/// # Errors
///
/// A quantile, floor or threshold that is not a number from 0 to 1.
pub fn eligible_seqs(population: &[Judged], mode: Mode) -> Result<Vec<u32>, ShareError> {
    let judged = population.iter().copied().filter(|one| one.need.is_finite() && one.effect.is_finite());
    let mut judged = by_seq(judged, |one| one.seq);
    judged.dedup_by_key(|one| one.seq);
    match mode {
        Mode::Absolute { threshold } => Ok(both_under(&judged, share("compactThreshold", threshold)?)),
        Mode::Relative { quantile, min_relative, min_floor, floor } => {
            let quantile = share("compactQuantile", quantile)?;
            let floor = share("floorThreshold", floor)?;
            // The hard switch stands before every fallback.
            if judged.is_empty() || quantile == 0.0 {
                return Ok(Vec::new());
            }
            if judged.len() < min_relative {
                return Ok(if judged.len() < min_floor { Vec::new() } else { both_under(&judged, floor) });
            }
            if all_equal(&judged, |one| one.need) || all_equal(&judged, |one| one.effect) {
                return Ok(both_under(&judged, floor));
            }
            let size = tail_size(judged.len(), quantile);
            let need = tail(&judged, size, |one| one.need);
            let effect = tail(&judged, size, |one| one.effect);
            let shared: Vec<u32> =
                need.iter().copied().filter(|seq| effect.binary_search(seq).is_ok()).collect();
            Ok(if shared.is_empty() { both_under(&judged, floor) } else { shared })
        }
    }
}

fn share(key: &'static str, value: f64) -> Result<f64, ShareError> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(ShareError { key, value }) }
}

fn both_under(judged: &[Judged], limit: f64) -> Vec<u32> {
    judged.iter().filter(|one| one.need < limit && one.effect < limit).map(|one| one.seq).collect()
}

fn all_equal(judged: &[Judged], axis: fn(&Judged) -> f64) -> bool {
    judged.windows(2).all(|pair| matches!(pair, [a, b] if axis(a) == axis(b)))
}

/// `max(1, floor(n * q))`, never more than `n`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "q is a share, so the product is between 0 and the population's size"
)]
fn tail_size(count: usize, quantile: f64) -> usize {
    ((count as f64 * quantile).floor() as usize).clamp(1, count)
}

/// The `size` lowest by (value, seq), as seqs in ascending order.
fn tail(judged: &[Judged], size: usize, axis: fn(&Judged) -> f64) -> Vec<u32> {
    let ranked = by_value(judged, |one| axis(one));
    let mut seqs: Vec<u32> = ranked.into_iter().take(size).map(|one| one.seq).collect();
    seqs.sort_unstable();
    seqs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const Q34: Mode = Mode::Relative { quantile: 0.34, min_relative: 4, min_floor: 2, floor: 0.2 };

    fn judged(values: &[(u32, f64, f64)]) -> Vec<Judged> {
        values.iter().map(|&(seq, need, effect)| Judged { seq, need, effect }).collect()
    }

    fn six() -> Vec<Judged> {
        judged(&[
            (10, 0.05, 0.30),
            (12, 0.06, 0.04),
            (14, 0.07, 0.05),
            (16, 0.20, 0.06),
            (18, 0.30, 0.07),
            (20, 0.35, 0.20),
        ])
    }

    #[test]
    fn input_19_the_tails_intersect() {
        assert_eq!(eligible_seqs(&six(), Q34), Ok(vec![12]));
    }

    #[test]
    fn input_19_zero_is_off_before_every_fallback() {
        let off = Mode::Relative { quantile: 0.0, min_relative: 4, min_floor: 2, floor: 1.0 };
        assert_eq!(eligible_seqs(&six(), off), Ok(vec![]));
        assert_eq!(eligible_seqs(&six()[..2], off), Ok(vec![]));
    }

    #[test]
    fn input_19_three_fall_to_the_floor_and_one_is_none() {
        let three = judged(&[(1, 0.1, 0.1), (2, 0.19, 0.25), (3, 0.3, 0.05)]);
        assert_eq!(eligible_seqs(&three, Q34), Ok(vec![1]));
        assert_eq!(eligible_seqs(&three[..1], Q34), Ok(vec![]));
        assert_eq!(eligible_seqs(&[], Q34), Ok(vec![]));
    }

    #[test]
    fn input_19_what_is_not_a_number_is_not_in_the_population() {
        let mut values = six();
        values.push(Judged { seq: 22, need: f64::NAN, effect: 0.0 });
        values.push(Judged { seq: 24, need: 0.0, effect: f64::INFINITY });
        assert_eq!(eligible_seqs(&values, Q34), Ok(vec![12]));
    }

    #[test]
    fn input_19_an_axis_of_equals_ranks_nothing() {
        let flat: Vec<Judged> = six().into_iter().map(|one| Judged { need: 0.1, ..one }).collect();
        assert_eq!(eligible_seqs(&flat, Q34), Ok(vec![12, 14, 16, 18]));
        let flat: Vec<Judged> = six().into_iter().map(|one| Judged { effect: 0.02, ..one }).collect();
        assert_eq!(eligible_seqs(&flat, Q34), Ok(vec![10, 12, 14]));
    }

    #[test]
    fn an_empty_intersection_falls_to_the_floor() {
        let crossed = judged(&[(1, 0.1, 0.9), (2, 0.2, 0.8), (3, 0.8, 0.2), (4, 0.9, 0.1)]);
        assert_eq!(eligible_seqs(&crossed, Q34), Ok(vec![]));
        let low = judged(&[(1, 0.01, 0.19), (2, 0.02, 0.18), (3, 0.18, 0.02), (4, 0.19, 0.01)]);
        assert_eq!(eligible_seqs(&low, Q34), Ok(vec![1, 2, 3, 4]));
    }

    #[test]
    fn a_quantile_that_is_no_share_is_named() {
        for value in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            let mode = Mode::Relative { quantile: value, min_relative: 4, min_floor: 2, floor: 0.2 };
            assert_eq!(eligible_seqs(&six(), mode).unwrap_err().key, "compactQuantile");
        }
        let mode = Mode::Absolute { threshold: 2.0 };
        assert_eq!(
            eligible_seqs(&six(), mode).unwrap_err().to_string(),
            "compactThreshold must be a number from 0 to 1, but it is 2"
        );
    }

    #[test]
    fn absolute_needs_both_axes_under_the_threshold() {
        assert_eq!(eligible_seqs(&six(), Mode::Absolute { threshold: 0.2 }), Ok(vec![12, 14]));
    }

    proptest! {
        #[test]
        fn eligible_is_a_part_of_the_population(
            values in prop::collection::vec((0u32..60, -0.2f64..1.2, prop_oneof![0.0f64..1.0, Just(f64::NAN)]), 0..40),
            quantile in 0.0f64..=1.0,
        ) {
            let population = judged(&values);
            let mode = Mode::Relative { quantile, min_relative: 4, min_floor: 2, floor: 0.2 };
            let found = eligible_seqs(&population, mode).unwrap();
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            for seq in &found {
                prop_assert!(population.iter().any(|one| one.seq == *seq && one.effect.is_finite()));
            }
            prop_assert_eq!(eligible_seqs(&population, mode).unwrap(), found);
        }
    }
}
