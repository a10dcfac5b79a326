//! The part of the configuration that decides here, compiled once (docs/prune.md 3.3).
//!
//! Ranges and defaults are the schema's; what arrives here was checked by it.

use super::eligible::{Judged, Mode, ShareError, eligible_seqs};
use super::evidence::{Evidence, PatternError};
use super::marks::Mark;
use super::ranges::{Gates, Limits, Plan, plan_receipts};
use super::receipt::{Language, Style};
use super::rules::{self, Verdict};
use super::slice::{Cut, Lengths, marker_len, slice_blocks};
use super::state::Shape;
use super::tools::Tools;
use super::trims::{Fate, KeepMode, Node, Policy, plan_trims};
use super::view::View;
use serde::Deserialize;
use std::collections::HashMap;
use thiserror::Error;

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// It is not the object the schema makes.
    #[error("the configuration could not be read: {0}")]
    Shape(String),
    /// An evidence pattern that is no literal.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Keep {
    Budget,
    Absolute,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Compact {
    Relative,
    Absolute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Transport {
    Direct,
    Region,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Keys {
    keep_mode: Keep,
    keep_threshold: f64,
    keep_floor_threshold: f64,
    min_candidates_for_budget: usize,
    min_gain_chars: usize,
    preserve_recent: usize,
    head_chars: usize,
    tail_chars: usize,
    min_chars_to_prune: usize,
    never_prune_tools: Vec<String>,
    max_state_tokens: usize,
    text_head: usize,
    text_tail: usize,
    input_chars: usize,
    result_excerpt_chars: usize,
    min_history_lines: usize,
    compact_receipts: bool,
    compact_mode: Compact,
    compact_quantile: f64,
    compact_preserve_recent: usize,
    min_candidates_for_relative: usize,
    floor_threshold: f64,
    min_candidates_for_floor: usize,
    compact_threshold: f64,
    compact_tools: Vec<String>,
    never_compact_tools: Vec<String>,
    evidence_guard: bool,
    evidence_patterns: Vec<String>,
    max_step_text_chars: usize,
    max_step_reasoning_chars: usize,
    compact_min_chars: usize,
    receipt_max_ratio: f64,
    max_compactions_per_pass: usize,
    receipt_arg_chars: usize,
    receipt_text_chars: usize,
    receipt_transport: Transport,
    receipt_language: Language,
}

/// A compiled configuration.
#[derive(Debug)]
pub struct Settings {
    keys: Keys,
    tools: Tools,
    evidence: Evidence,
}

/// A result that a judge may be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its seq.
    pub seq: u32,
    /// Whether both axes matter (layer 2), or the need alone (layer 1).
    pub both: bool,
}

/// What layer 1 would do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trims {
    /// The results, each with its fate, in surface order.
    pub nodes: Vec<(Node, Fate)>,
    /// The cuts, in surface order, by the result's seq.
    pub cuts: Vec<(u32, Cut)>,
}

/// What layer 2 would do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Receipts {
    /// The plan.
    pub plan: Plan,
    /// How many judged results could go at all.
    pub population: usize,
    /// Those whose verdict lets them go, ascending.
    pub eligible: Vec<u32>,
}

/// One tool of a surface and what the lists say of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolUse {
    /// The name, as the model wrote it first.
    pub name: String,
    /// Whether receipts may take its results.
    pub may_compact: bool,
}

impl Settings {
    /// Reads a configuration that the schema has resolved, as JSON.
    ///
    /// # Errors
    ///
    /// [`SettingsError`], which names the key.
    pub fn read(json: &str) -> Result<Self, SettingsError> {
        let keys: Keys =
            serde_json::from_str(json).map_err(|error| SettingsError::Shape(error.to_string()))?;
        let evidence = Evidence::new(&keys.evidence_patterns)?;
        let tools = Tools::new(&keys.compact_tools, &keys.never_compact_tools, &keys.never_prune_tools);
        Ok(Self { keys, tools, evidence })
    }

    /// The evidence patterns, compiled.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// The lengths of a judge's state.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let keys = &self.keys;
        Shape {
            text_head: keys.text_head,
            text_tail: keys.text_tail,
            input_chars: keys.input_chars,
            excerpt_chars: keys.result_excerpt_chars,
            max_tokens: keys.max_state_tokens,
            min_lines: keys.min_history_lines,
        }
    }

    /// The limits of one pass of layer 2.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            max_ratio: self.keys.receipt_max_ratio,
            min_chars: self.keys.compact_min_chars,
            max_receipts: self.keys.max_compactions_per_pass,
        }
    }

    /// Verdicts without a model.
    #[must_use]
    pub fn rules(&self, view: &View) -> Vec<Verdict> {
        rules::judge(view, &self.tools)
    }

    /// The results worth a question, in surface order: those a cut could shrink, and those a receipt could
    /// take. Nothing else is asked about, because a question costs.
    #[must_use]
    pub fn candidates(&self, view: &View) -> Vec<Candidate> {
        let nodes = self.nodes(view, &HashMap::new());
        view.results()
            .zip(nodes)
            .filter_map(|((_, node, outcome), trim)| {
                let both = self.keys.compact_receipts
                    && matches!(outcome.mark, Mark::None | Mark::Cut)
                    && view.call_of(outcome).is_some_and(|call| self.tools.may_compact(&call.tool_key));
                let trimmable = !(trim.in_tail || trim.blocked || trim.cut_before)
                    && trim.chars >= self.keys.min_chars_to_prune
                    && trim.gain >= self.keys.min_gain_chars.max(1);
                (both || trimmable).then_some(Candidate { seq: node.seq, both })
            })
            .collect()
    }

    /// Layer 1: `needs` holds the verdicts, `ratio` the budget (docs/prune.md 3.5).
    #[must_use]
    pub fn trims(&self, view: &View, needs: &HashMap<u32, f64>, ratio: f64) -> Trims {
        let keys = &self.keys;
        let policy = Policy {
            mode: match keys.keep_mode {
                Keep::Absolute => KeepMode::Absolute,
                Keep::Budget => KeepMode::Budget {
                    ratio,
                    min_candidates: keys.min_candidates_for_budget,
                    floor: keys.keep_floor_threshold,
                },
            },
            keep_threshold: keys.keep_threshold,
            min_chars: keys.min_chars_to_prune,
            min_gain: keys.min_gain_chars,
        };
        let nodes = self.nodes(view, needs);
        let fates = plan_trims(&nodes, policy);
        let lengths = Lengths { head: keys.head_chars, tail: keys.tail_chars, min_gain: keys.min_gain_chars };
        let mut trims = Trims::default();
        for (((_, _, outcome), node), mut fate) in view.results().zip(nodes).zip(fates) {
            if fate == Fate::Cut {
                let blocks: Vec<Option<&str>> = outcome.body.iter().map(Option::as_deref).collect();
                match slice_blocks(&blocks, lengths, node.seq) {
                    Some(cut) => trims.cuts.push((node.seq, cut)),
                    // The plan did not know the marker's number: a cut that frees nothing is none.
                    None => fate = Fate::KeepVerdict,
                }
            }
            trims.nodes.push((node, fate));
        }
        trims
    }

    fn nodes(&self, view: &View, needs: &HashMap<u32, f64>) -> Vec<Node> {
        let keys = &self.keys;
        view.results()
            .map(|(at, node, outcome)| {
                let tool = view.call_of(outcome).map_or("", |call| &call.tool_key);
                let kept = keys.head_chars + keys.tail_chars + marker_len(node.seq);
                Node {
                    seq: node.seq,
                    need: needs.get(&node.seq).copied(),
                    chars: outcome.chars,
                    gain: outcome.chars.saturating_sub(kept),
                    in_tail: view.in_tail(at, keys.preserve_recent),
                    blocked: self.tools.never_prune(tool),
                    cut_before: outcome.mark != Mark::None,
                }
            })
            .collect()
    }

    /// Layer 2: `judged` holds the verdicts with both axes (docs/prune.md 3.6).
    ///
    /// # Errors
    ///
    /// [`ShareError`] for a quantile or threshold that is no share.
    pub fn receipts(&self, view: &View, judged: &HashMap<u32, Judged>) -> Result<Receipts, ShareError> {
        let keys = &self.keys;
        let population: Vec<Judged> = view
            .results()
            .filter(|(_, _, outcome)| matches!(outcome.mark, Mark::None | Mark::Cut))
            .filter(|(_, _, outcome)| {
                view.call_of(outcome).is_some_and(|call| self.tools.may_compact(&call.tool_key))
            })
            .filter_map(|(_, node, _)| judged.get(&node.seq).copied())
            .collect();
        let mode = match keys.compact_mode {
            Compact::Absolute => Mode::Absolute { threshold: keys.compact_threshold },
            Compact::Relative => Mode::Relative {
                quantile: keys.compact_quantile,
                min_relative: keys.min_candidates_for_relative,
                min_floor: keys.min_candidates_for_floor,
                floor: keys.floor_threshold,
            },
        };
        let eligible = eligible_seqs(&population, mode)?;
        let gates = Gates {
            preserve_recent: keys.compact_preserve_recent,
            max_text_chars: keys.max_step_text_chars,
            max_reasoning_chars: keys.max_step_reasoning_chars,
            min_chars: keys.compact_min_chars,
            evidence_guard: keys.evidence_guard,
        };
        let style = Style {
            language: keys.receipt_language,
            arg_chars: keys.receipt_arg_chars,
            text_chars: keys.receipt_text_chars,
            framed: keys.receipt_transport == Transport::Region,
        };
        let plan = plan_receipts(view, &eligible, &gates, &self.tools, &self.evidence, &style);
        Ok(Receipts { plan, population: population.len(), eligible })
    }

    /// The tools of a surface, by name.
    #[must_use]
    pub fn tools_of(&self, view: &View) -> Vec<ToolUse> {
        let mut seen: HashMap<&str, ToolUse> = HashMap::new();
        for call in view.results().filter_map(|(_, _, outcome)| view.call_of(outcome)) {
            seen.entry(&call.tool_key).or_insert_with(|| ToolUse {
                name: call.tool.clone(),
                may_compact: self.tools.may_compact(&call.tool_key),
            });
        }
        let mut tools: Vec<ToolUse> = seen.into_values().collect();
        tools.sort_unstable();
        tools
    }
}
