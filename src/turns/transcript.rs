//! The raw record of a turn, for a person's eyes and for a model that is asked about it
//! (docs/turn-memory.md 2.8).

use super::render::joined;
use super::script::{Block, Node, Role, Script};
use super::units::{cuts, points, push_capped, push_str};

/// How many code points of a call's arguments or a reasoning block a transcript keeps.
const PART_CAP: usize = 2000;

/// How much of a turn a transcript may hold, in code points.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Each tool result.
    pub result: usize,
    /// The whole transcript, without the line that says what was left out.
    pub whole: usize,
}

/// Renders a turn's messages as they were appended. Too long a transcript keeps its head and its tail, and its
/// last line says how many of its events were left out.
#[must_use]
pub fn render_transcript(script: &Script, limits: Limits) -> Vec<u16> {
    let mut out = Vec::new();
    let mut starts = Vec::new();
    for node in script.nodes() {
        if !out.is_empty() {
            push_str(&mut out, "\n\n");
        }
        starts.push(out.len());
        push_node(&mut out, script, node, limits.result);
    }
    let total = points(&out);
    if total <= limits.whole {
        return out;
    }
    let (head, tail) = cuts(&out, limits.whole);
    let ends = starts.iter().copied().skip(1).chain([out.len()]);
    let whole = starts.iter().zip(ends).filter(|(from, to)| **from >= head && *to <= tail).count();
    let mut cut = out.get(..head).unwrap_or(&[]).to_vec();
    push_str(&mut cut, "\n\n... [transcript cut here] ...\n\n");
    cut.extend_from_slice(out.get(tail..).unwrap_or(&[]));
    let events = script.nodes().len();
    push_str(
        &mut cut,
        &format!("\n\n[{whole} of {events} events left out, others cut; {total} chars in all]"),
    );
    cut
}

fn push_node(out: &mut Vec<u16>, script: &Script, node: &Node, result_cap: usize) {
    let blocks = script.blocks(node);
    match &node.role {
        Role::Assistant => {
            for (index, block) in blocks.iter().enumerate() {
                if index > 0 {
                    push_str(out, "\n\n");
                }
                push_said(out, script, block);
            }
            if blocks.is_empty() {
                push_str(out, "### Assistant\n");
            }
            return;
        }
        Role::Person | Role::Quote(_) => push_str(out, "### User\n"),
        Role::Injected(label) => {
            push_str(out, "### ");
            out.extend_from_slice(script.units(label));
            push_str(out, "\n");
        }
        Role::Fragment => push_str(out, "### turn-memory\n"),
        Role::Result { failed, .. } => {
            push_str(out, if *failed { "### Tool result (error)\n" } else { "### Tool result\n" });
            push_capped(out, &joined(script, blocks, "\n"), result_cap);
            return;
        }
    }
    out.extend(joined(script, blocks, ""));
}

fn push_said(out: &mut Vec<u16>, script: &Script, block: &Block) {
    match block {
        Block::Text(text) => {
            push_str(out, "### Assistant\n");
            out.extend_from_slice(script.units(text));
        }
        Block::Reasoning(text) => {
            push_str(out, "### Assistant reasoning\n");
            push_capped(out, script.units(text), PART_CAP);
        }
        Block::Call { name, arguments, .. } => {
            push_str(out, "### Tool call: ");
            out.extend_from_slice(script.units(name));
            push_str(out, "\nargs: ");
            push_capped(out, script.units(arguments), PART_CAP);
        }
        Block::Other(kind) => {
            push_str(out, "### Assistant\n[");
            out.extend_from_slice(script.units(kind));
            push_str(out, "]");
        }
    }
}

/// Cuts a transcript so that a model with `budget` tokens of input can read it; `None` when it fits already.
/// ASCII is priced at 0.4 tokens a character and everything else at one, so that the estimate errs high.
#[must_use]
pub fn fit(text: &[u16], budget: u32) -> Option<Vec<u16>> {
    let ascii = text.iter().filter(|unit| **unit < 0x80).count();
    // In fifths of a token.
    let price = ascii.saturating_mul(2) + (text.len() - ascii).saturating_mul(5);
    let budget = usize::try_from(budget).unwrap_or(usize::MAX).saturating_mul(5);
    if price <= budget {
        return None;
    }
    let cap = (points(text) as u128 * budget as u128 / price as u128).try_into().unwrap_or(0);
    let mut out = Vec::new();
    push_capped(&mut out, text, cap);
    Some(out)
}
