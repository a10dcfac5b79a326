//! Layer 1: which result bodies are cut (docs/prune.md 3.5).

use crate::sorted::{by_seq, by_value};

/// What a plan knows about one `tool/result` on the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// The result's seq.
    pub seq: u32,
    /// Probability that the content is still needed; `None` or not finite when nobody judged it.
    pub need: Option<f64>,
    /// Code points of its text.
    pub chars: usize,
    /// Code points a cut would free; 0 when it would free none.
    pub gain: usize,
    /// Among the newest `preserveRecent` surface nodes.
    pub in_tail: bool,
    /// Its tool is in `neverPruneTools`.
    pub blocked: bool,
    /// Its body was cut before, here or by the stock pruner.
    pub cut_before: bool,
}

impl Node {
    fn judged(&self) -> Option<f64> {
        self.need.filter(|value| value.is_finite())
    }
}

/// How judged results are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeepMode {
    /// The least needed first, until the share of possible savings that the pressure asks for is freed.
    Budget {
        /// The share, 0 to 1.
        ratio: f64,
        /// Below this many candidates the floor decides instead.
        min_candidates: usize,
        /// Candidates under this value are cut when the floor decides.
        floor: f64,
    },
    /// Everything under `keep_threshold`.
    Absolute,
}

/// The numbers of one plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// The mode.
    pub mode: KeepMode,
    /// From this value on a result is needed and never cut by a verdict.
    pub keep_threshold: f64,
    /// Below this many code points nothing is cut by a verdict.
    pub min_chars: usize,
    /// Below this many freed code points a cut is not worth it.
    pub min_gain: usize,
}

/// What becomes of one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Cut by its verdict.
    Cut,
    /// Nobody judged it: the stock rule decides by size alone.
    Stock,
    /// Kept: judged as needed, or too short to be worth a cut.
    KeepVerdict,
    /// Kept: among the newest nodes.
    KeepTail,
    /// Kept: its tool is never cut.
    KeepDenied,
    /// Kept: the budget was spent, or there is none.
    KeepBudget,
    /// Kept: cut before.
    KeepCut,
}

impl Fate {
    /// The stable number that crosses the border; JavaScript's `FATES` lists the names in this order.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Cut => 0,
            Self::Stock => 1,
            Self::KeepVerdict => 2,
            Self::KeepTail => 3,
            Self::KeepDenied => 4,
            Self::KeepBudget => 5,
            Self::KeepCut => 6,
        }
    }
}

/// The fate of every node, in the order given.
#[must_use]
pub fn plan_trims(nodes: &[Node], policy: Policy) -> Vec<Fate> {
    let mut fates: Vec<Fate> = nodes.iter().map(|node| first_fate(node, policy)).collect();
    if let KeepMode::Budget { ratio, min_candidates, floor } = policy.mode {
        for index in within_budget(nodes, &fates, ratio, min_candidates, floor) {
            if let Some(fate) = fates.get_mut(index) {
                *fate = Fate::Cut;
            }
        }
    }
    fates
}

/// The fate before any budget is spent: in budget mode a candidate starts as kept by the budget.
fn first_fate(node: &Node, policy: Policy) -> Fate {
    if node.in_tail {
        return Fate::KeepTail;
    }
    if node.blocked {
        return Fate::KeepDenied;
    }
    if node.cut_before {
        return Fate::KeepCut;
    }
    let Some(need) = node.judged() else { return Fate::Stock };
    if need >= policy.keep_threshold || node.chars < policy.min_chars || node.gain < policy.min_gain.max(1) {
        return Fate::KeepVerdict;
    }
    match policy.mode {
        KeepMode::Absolute => Fate::Cut,
        KeepMode::Budget { .. } => Fate::KeepBudget,
    }
}

fn within_budget(
    nodes: &[Node],
    fates: &[Fate],
    ratio: f64,
    min_candidates: usize,
    floor: f64,
) -> Vec<usize> {
    // No budget means no cut by verdict, whatever the size of the sample.
    if ratio.is_nan() || ratio <= 0.0 {
        return Vec::new();
    }
    let pool: Vec<(f64, u32, usize, usize)> = nodes
        .iter()
        .zip(fates)
        .enumerate()
        .filter(|(_, (_, fate))| **fate == Fate::KeepBudget)
        .filter_map(|(index, (node, _))| node.judged().map(|need| (need, node.seq, node.gain, index)))
        .collect();
    if pool.len() < min_candidates {
        return pool.into_iter().filter(|one| one.0 < floor).map(|one| one.3).collect();
    }
    let pool = by_value(by_seq(pool, |one| one.1), |one| one.0);
    let budget = ratio.min(1.0) * pool.iter().map(|one| one.2 as f64).sum::<f64>();
    let mut spent = 0.0;
    pool.into_iter()
        .take_while(|one| {
            let take = spent < budget;
            spent += one.2 as f64;
            take
        })
        .map(|one| one.3)
        .collect()
}

/// The order in which protection yields once the provider refused the request for its length: every kept
/// result, the least needed first, those nobody judged last (docs/prune.md 3.5).
#[must_use]
pub fn yield_order(nodes: &[Node], fates: &[Fate]) -> Vec<usize> {
    let kept = nodes
        .iter()
        .zip(fates)
        .enumerate()
        .filter(|(_, (_, fate))| !matches!(fate, Fate::Cut | Fate::Stock))
        .map(|(index, (node, _))| (node.judged().unwrap_or(f64::INFINITY), node.seq, index));
    by_value(by_seq(kept, |one| one.1), |one| one.0).into_iter().map(|one| one.2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node(seq: u32, need: Option<f64>) -> Node {
        Node { seq, need, chars: 2000, gain: 1000, in_tail: false, blocked: false, cut_before: false }
    }

    fn budget(ratio: f64) -> Policy {
        Policy {
            mode: KeepMode::Budget { ratio, min_candidates: 4, floor: 0.2 },
            keep_threshold: 0.5,
            min_chars: 400,
            min_gain: 40,
        }
    }

    fn four() -> Vec<Node> {
        [0.1, 0.2, 0.3, 0.4].iter().zip(1..).map(|(need, seq)| node(seq, Some(*need))).collect()
    }

    #[test]
    fn input_20_a_third_of_four_takes_two() {
        use Fate::{Cut, KeepBudget};
        assert_eq!(plan_trims(&four(), budget(0.3)), [Cut, Cut, KeepBudget, KeepBudget]);
    }

    #[test]
    fn input_20_no_pressure_cuts_nothing_even_in_a_small_sample() {
        assert_eq!(plan_trims(&[node(1, Some(0.1))], budget(0.0)), [Fate::KeepBudget]);
        assert_eq!(plan_trims(&[node(1, Some(0.1))], budget(f64::NAN)), [Fate::KeepBudget]);
        assert_eq!(plan_trims(&four(), budget(0.0)), [Fate::KeepBudget; 4]);
    }

    #[test]
    fn input_20_unjudged_is_not_unneeded() {
        let mut nodes = four();
        nodes[0].need = None;
        nodes[1].need = Some(f64::NAN);
        let fates = plan_trims(&nodes, budget(1.0));
        assert_eq!(fates[..2], [Fate::Stock, Fate::Stock]);
        // Two candidates are a small sample: .3 and .4 are over the floor.
        assert_eq!(fates[2..], [Fate::KeepBudget, Fate::KeepBudget]);
    }

    #[test]
    fn input_20_the_ceiling_leaves_the_pool() {
        let mut nodes = four();
        nodes.push(node(5, Some(0.5)));
        let fates = plan_trims(&nodes, budget(1.0));
        assert_eq!(fates, [Fate::Cut, Fate::Cut, Fate::Cut, Fate::Cut, Fate::KeepVerdict]);
        // 4 of 5 in the pool: the sum of gains is 4000, so a quarter is one cut.
        assert_eq!(plan_trims(&nodes, budget(0.25)).iter().filter(|fate| **fate == Fate::Cut).count(), 1);
    }

    #[test]
    fn a_small_sample_falls_to_the_floor() {
        let nodes = [node(1, Some(0.19)), node(2, Some(0.2)), node(3, Some(0.1))];
        assert_eq!(plan_trims(&nodes, budget(0.01)), [Fate::Cut, Fate::KeepBudget, Fate::Cut]);
    }

    #[test]
    fn protection_comes_before_any_verdict() {
        let tail = Node { in_tail: true, ..node(1, Some(0.0)) };
        let denied = Node { blocked: true, ..node(2, Some(0.0)) };
        let cut = Node { cut_before: true, ..node(3, Some(0.0)) };
        let short = Node { chars: 399, ..node(4, Some(0.0)) };
        let nodes = [tail, denied, cut, short, Node { in_tail: true, ..node(5, None) }];
        for policy in [budget(1.0), Policy { mode: KeepMode::Absolute, ..budget(1.0) }] {
            assert_eq!(
                plan_trims(&nodes, policy),
                [Fate::KeepTail, Fate::KeepDenied, Fate::KeepCut, Fate::KeepVerdict, Fate::KeepTail]
            );
        }
    }

    #[test]
    fn absolute_needs_no_pressure() {
        let policy = Policy { mode: KeepMode::Absolute, ..budget(0.0) };
        let nodes = [node(1, Some(0.49)), node(2, Some(0.5)), node(3, None)];
        assert_eq!(plan_trims(&nodes, policy), [Fate::Cut, Fate::KeepVerdict, Fate::Stock]);
    }

    #[test]
    fn overflow_yields_the_least_needed_first_and_the_unjudged_last() {
        let nodes = [
            Node { in_tail: true, ..node(9, None) },
            node(7, Some(0.9)),
            Node { blocked: true, ..node(8, Some(0.6)) },
            node(3, Some(0.9)),
            node(4, Some(0.1)),
        ];
        let fates = plan_trims(&nodes, Policy { mode: KeepMode::Absolute, ..budget(0.0) });
        assert_eq!(fates[4], Fate::Cut);
        assert_eq!(yield_order(&nodes, &fates), [2, 3, 1, 0]);
    }

    proptest! {
        #[test]
        fn a_plan_never_touches_what_is_protected(
            spec in prop::collection::vec((prop::option::of(0.0f64..1.0), 0usize..3000, 0usize..2000, any::<(bool, bool, bool)>()), 0..30),
            ratio in 0.0f64..=1.0, absolute in any::<bool>(),
        ) {
            let nodes: Vec<Node> = spec.iter().zip(0..).map(|((need, chars, gain, flags), seq)| Node {
                seq, need: *need, chars: *chars, gain: *gain,
                in_tail: flags.0, blocked: flags.1, cut_before: flags.2,
            }).collect();
            let policy = if absolute { Policy { mode: KeepMode::Absolute, ..budget(ratio) } } else { budget(ratio) };
            let fates = plan_trims(&nodes, policy);
            for (node, fate) in nodes.iter().zip(&fates) {
                if *fate == Fate::Cut {
                    prop_assert!(!node.in_tail && !node.blocked && !node.cut_before);
                    prop_assert!(node.need.is_some_and(|need| need < 0.5));
                    prop_assert!(node.chars >= 400 && node.gain >= 40);
                }
                prop_assert_eq!(*fate == Fate::Stock,
                    node.need.is_none() && !node.in_tail && !node.blocked && !node.cut_before);
            }
            let kept = fates.iter().filter(|fate| !matches!(fate, Fate::Cut | Fate::Stock)).count();
            prop_assert_eq!(yield_order(&nodes, &fates).len(), kept);
        }
    }
}
