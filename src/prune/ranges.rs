//! Layer 2: which steps leave the surface, whole or in part (docs/prune.md 3.6).

use super::evidence::Evidence;
use super::marks::Mark;
use super::receipt::{Style, render_full, render_partial};
use super::text::count_points;
use super::tools::Tools;
use super::view::{Head, Outcome, Said, Step, View};
use std::collections::BTreeMap;

/// The gates of layer 2.
#[derive(Debug)]
pub struct Gates {
    /// The newest so many nodes stay.
    pub preserve_recent: usize,
    /// A step whose visible text is longer, in code points, stays.
    pub max_text_chars: usize,
    /// A step whose reasoning is longer, in code points, stays.
    pub max_reasoning_chars: usize,
    /// A range that frees fewer code points stays.
    pub min_chars: usize,
    /// Whether results that hold evidence stay.
    pub evidence_guard: bool,
}

/// Why a result, or a whole step, stays. The order is the order of the gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stays {
    /// Its head is not followed by exactly its results.
    Incomplete,
    /// Its head holds an image or a block that a receipt could not state.
    HeadContent,
    /// Its visible text is too long.
    Text,
    /// Its reasoning is too long.
    Reasoning,
    /// Among the newest nodes.
    Tail,
    /// Its tool is not on the list.
    Tool,
    /// A receipt already, or rewritten by somebody else.
    Rewritten,
    /// The tool failed: an error is evidence.
    Failed,
    /// It holds an image or another block that the guard cannot read.
    Unreadable,
    /// Its verdict does not let it go.
    NotEligible,
    /// It holds a word of the evidence list, now or before an earlier cut.
    Evidence,
    /// What would be freed is too little.
    MinChars,
}

impl Stays {
    /// The stable name, as the heartbeat and `/prune status` show it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Incomplete => "incomplete",
            Self::HeadContent => "headContent",
            Self::Text => "text",
            Self::Reasoning => "reasoning",
            Self::Tail => "tail",
            Self::Tool => "tool",
            Self::Rewritten => "rewritten",
            Self::Failed => "failed",
            Self::Unreadable => "unreadable",
            Self::NotEligible => "notEligible",
            Self::Evidence => "evidence",
            Self::MinChars => "minChars",
        }
    }
}

/// One body that a partial receipt replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyReceipt {
    /// The result's seq.
    pub seq: u32,
    /// What takes the place of its body.
    pub text: String,
    /// Code points freed; negative when the receipt is longer.
    pub saved: i64,
}

/// One planned receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    /// Complete steps side by side become one message.
    Full {
        /// Every node that leaves, in surface order.
        seqs: Vec<u32>,
        /// The message.
        text: String,
        /// Code points freed.
        saved: i64,
    },
    /// Some results of one step get a receipt as their body.
    Partial {
        /// The bodies, in surface order.
        bodies: Vec<BodyReceipt>,
    },
}

/// What layer 2 would do, and why the rest stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Receipts by position. Each still has to pass the token ratio, see [`admit`].
    pub receipts: Vec<Receipt>,
    /// How many results stay for which reason.
    pub stays: BTreeMap<Stays, usize>,
}

/// Plans receipts for the eligible results (ascending seqs).
#[must_use]
pub fn plan_receipts(
    view: &View,
    eligible: &[u32],
    gates: &Gates,
    tools: &Tools,
    evidence: &Evidence,
    style: &Style,
) -> Plan {
    let mut plan = Plan::default();
    let in_steps: usize = view.steps.iter().map(|step| step.results).sum();
    plan.stay(Stays::Incomplete, view.results().count() - in_steps);
    let judge = PairGate { view, eligible, gates, tools, evidence };
    for range in select_ranges(&judge, &mut plan) {
        let (receipt, results) = match range {
            Range::Full(steps) => (full(view, &steps, style), steps.iter().map(|step| step.results).sum()),
            Range::Partial(places) => (partial(view, &places, style), places.len()),
        };
        if receipt.saved() < i64::try_from(gates.min_chars).unwrap_or(i64::MAX) {
            plan.stay(Stays::MinChars, results);
        } else {
            plan.receipts.push(receipt);
        }
    }
    plan
}

impl Plan {
    fn stay(&mut self, reason: Stays, results: usize) {
        if results > 0 {
            *self.stays.entry(reason).or_default() += results;
        }
    }
}

impl Receipt {
    fn saved(&self) -> i64 {
        match self {
            Self::Full { saved, .. } => *saved,
            Self::Partial { bodies } => bodies.iter().map(|body| body.saved).sum(),
        }
    }
}

/// A stretch of the surface that may go.
enum Range {
    /// Complete steps side by side.
    Full(Vec<Step>),
    /// Places of results of one step.
    Partial(Vec<usize>),
}

fn select_ranges(gate: &PairGate<'_>, plan: &mut Plan) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for step in &gate.view.steps {
        let Some(head) = gate.view.head(step.head) else { continue };
        if let Some(reason) = gate.step_stays(head) {
            plan.stay(reason, step.results);
            continue;
        }
        let places = step.head + 1..=step.head + step.results;
        let mut free = Vec::with_capacity(step.results);
        for place in places {
            match gate.stays(place) {
                None => free.push(place),
                Some(reason) => plan.stay(reason, 1),
            }
        }
        if free.len() == step.results {
            match ranges.last_mut() {
                Some(Range::Full(steps)) if steps.last().is_some_and(|last| last.ends_before(step)) => {
                    steps.push(*step);
                }
                _ => ranges.push(Range::Full(vec![*step])),
            }
        } else if !free.is_empty() {
            ranges.push(Range::Partial(free));
        }
    }
    ranges
}

impl Step {
    fn ends_before(&self, next: &Self) -> bool {
        self.head + self.results + 1 == next.head
    }
}

struct PairGate<'a> {
    view: &'a View,
    eligible: &'a [u32],
    gates: &'a Gates,
    tools: &'a Tools,
    evidence: &'a Evidence,
}

impl PairGate<'_> {
    fn step_stays(&self, head: &Head) -> Option<Stays> {
        if head.has_other {
            Some(Stays::HeadContent)
        } else if count_points(&head.text) > self.gates.max_text_chars {
            Some(Stays::Text)
        } else if head.reasoning_chars > self.gates.max_reasoning_chars {
            Some(Stays::Reasoning)
        } else {
            None
        }
    }

    fn stays(&self, place: usize) -> Option<Stays> {
        let node = self.view.nodes.get(place)?;
        let Said::Result(outcome) = &node.said else { return Some(Stays::Incomplete) };
        let key = self.view.call_of(outcome).map_or("", |call| &call.tool_key);
        if self.view.in_tail(place, self.gates.preserve_recent) {
            Some(Stays::Tail)
        } else if !self.tools.may_compact(key) {
            Some(Stays::Tool)
        } else if matches!(outcome.mark, Mark::Receipt | Mark::Foreign) {
            Some(Stays::Rewritten)
        } else if outcome.is_error {
            Some(Stays::Failed)
        } else if outcome.body.iter().any(Option::is_none) {
            Some(Stays::Unreadable)
        } else if self.eligible.binary_search(&node.seq).is_err() {
            Some(Stays::NotEligible)
        } else if self.gates.evidence_guard && self.holds_evidence(outcome) {
            Some(Stays::Evidence)
        } else {
            None
        }
    }

    fn holds_evidence(&self, outcome: &Outcome) -> bool {
        // The oldest body is what the tool said; a rewrite in between may hold less, never other evidence.
        outcome
            .earlier
            .iter()
            .rev()
            .chain(std::iter::once(&outcome.body))
            .flat_map(|body| body.iter().flatten())
            .any(|text| self.evidence.find(text).is_some())
    }
}

fn full(view: &View, steps: &[Step], style: &Style) -> Receipt {
    let text = render_full(view, steps, style);
    let nodes = || steps.iter().flat_map(|step| view.nodes.iter().skip(step.head).take(step.results + 1));
    let chars: usize =
        nodes().map(|node| if let Said::Result(outcome) = &node.said { outcome.chars } else { 0 }).sum();
    Receipt::Full { seqs: nodes().map(|node| node.seq).collect(), saved: difference(chars, &text), text }
}

fn partial(view: &View, places: &[usize], style: &Style) -> Receipt {
    let bodies = places
        .iter()
        .filter_map(|place| view.nodes.get(*place))
        .filter_map(|node| match &node.said {
            Said::Result(outcome) => {
                let text = render_partial(view, outcome, style);
                Some(BodyReceipt { seq: node.seq, saved: difference(outcome.chars, &text), text })
            }
            _ => None,
        })
        .collect();
    Receipt::Partial { bodies }
}

fn difference(before: usize, text: &str) -> i64 {
    let signed = |count| i64::try_from(count).unwrap_or(i64::MAX);
    signed(before) - signed(count_points(text))
}

/// Token prices of one edit: of what would land and of what it replaces, by one estimator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Estimated tokens of the new message.
    pub landed: f64,
    /// Estimated tokens of the nodes it replaces.
    pub shadowed: f64,
}

/// The limits of one pass.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// `receiptMaxRatio`.
    pub max_ratio: f64,
    /// `compactMinChars`.
    pub min_chars: usize,
    /// `maxCompactionsPerPass`.
    pub max_receipts: usize,
}

/// Which edits land: `prices` holds one price a full receipt and one a body of a partial one, in order. The
/// answer holds the places of the prices whose edit lands. A step's bodies count as one receipt.
#[must_use]
pub fn admit(receipts: &[Receipt], prices: &[Price], limits: &Limits) -> Vec<usize> {
    let cheap = |place: &usize| {
        prices.get(*place).is_some_and(|price| price.landed <= limits.max_ratio * price.shadowed)
    };
    let enough = i64::try_from(limits.min_chars).unwrap_or(i64::MAX);
    let mut landed = Vec::new();
    let (mut place, mut count) = (0, 0);
    for receipt in receipts {
        let (edits, saved): (Vec<usize>, i64) = match receipt {
            Receipt::Full { saved, .. } => ((place..=place).filter(cheap).collect(), *saved),
            Receipt::Partial { bodies } => {
                let chosen: Vec<(usize, i64)> = (place..)
                    .zip(bodies)
                    .filter(|(at, _)| cheap(at))
                    .map(|(at, body)| (at, body.saved))
                    .collect();
                (chosen.iter().map(|one| one.0).collect(), chosen.iter().map(|one| one.1).sum())
            }
        };
        place += match receipt {
            Receipt::Full { .. } => 1,
            Receipt::Partial { bodies } => bodies.len(),
        };
        if count < limits.max_receipts && !edits.is_empty() && saved >= enough {
            count += 1;
            landed.extend(edits);
        }
    }
    landed
}
