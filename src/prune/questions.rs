//! What a judge is asked, and in which requests (docs/prune.md 3.2).

use super::state::{Lines, Shape};
use super::text::estimate_tokens;
use crate::sorted::inserted;
use std::collections::BTreeSet;

/// What a request spends on a question besides its words.
const QUESTION_OVERHEAD: usize = 8;

/// What is judged of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Whether its content is still needed.
    Result,
    /// Whether its call changed state outside the session.
    Effect,
}

/// One statement for a judge; true means keep, or has effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// `result_s12` or `effect_s12`.
    pub id: String,
    /// The result's seq.
    pub seq: u32,
    /// What is asked of it.
    pub axis: Axis,
    /// The statement, without a word about size.
    pub statement: String,
}

impl Question {
    /// The statement about one axis of one result.
    #[must_use]
    pub fn new(seq: u32, axis: Axis) -> Self {
        let (name, statement) = match axis {
            Axis::Result => (
                "result",
                format!(
                    "The next steps toward the goal still need the content of [s{seq}] literally, and running its \
                     call again cannot replace it."
                ),
            ),
            Axis::Effect => (
                "effect",
                format!(
                    "The next steps toward the goal must know that the call of [s{seq}] happened and changed state \
                     outside the session."
                ),
            ),
        };
        Self { id: format!("{name}_s{seq}"), seq, axis, statement }
    }

    fn tokens(&self) -> usize {
        estimate_tokens(&self.id) + estimate_tokens(&self.statement) + QUESTION_OVERHEAD
    }
}

/// What one request may hold.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Tokens of state and questions together.
    pub request_tokens: usize,
    /// Questions a request may ask.
    pub questions: usize,
}

/// One request: a state and questions about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// What the judge is told.
    pub state: String,
    /// Whether the state holds all of the history.
    pub fitted: bool,
    /// Places of the questions in the list given.
    pub questions: Vec<usize>,
}

/// All requests of a pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batches {
    /// The requests.
    pub batches: Vec<Batch>,
    /// Questions that fit in no request.
    pub skipped: usize,
}

/// Packs questions into requests. One state serves all of them while the lines about the judged results fit
/// in it; else each request gets a state with its own results alone.
#[must_use]
pub fn batch_questions(lines: &Lines, questions: &[Question], shape: &Shape, budget: Budget) -> Batches {
    // A judge with a smaller window than the configuration's keeps a sixth of it for the questions.
    let shape = Shape { max_tokens: shape.max_tokens.min(budget.request_tokens / 6 * 5), ..*shape };
    let candidates: BTreeSet<u32> = inserted(questions.iter().map(|question| question.seq));
    if candidates.is_empty() {
        return Batches::default();
    }
    let own: usize = candidates.iter().map(|seq| lines.own_tokens(*seq)).sum();
    if lines.head_tokens() + own <= shape.max_tokens {
        shared_state(lines, questions, &candidates, &shape, budget)
    } else {
        own_states(lines, questions, &shape, budget)
    }
}

fn shared_state(
    lines: &Lines,
    questions: &[Question],
    candidates: &BTreeSet<u32>,
    shape: &Shape,
    budget: Budget,
) -> Batches {
    let state = lines.state(candidates, shape);
    let room = budget.request_tokens.saturating_sub(estimate_tokens(&state.text));
    let mut packer = Packer { budget, room, ..Packer::default() };
    for (place, question) in questions.iter().enumerate() {
        packer.add(&[place], question.tokens(), 0);
    }
    let skipped = packer.skipped;
    let batches = packer
        .finish()
        .into_iter()
        .map(|questions| Batch { state: state.text.clone(), fitted: state.fitted, questions })
        .collect();
    Batches { batches, skipped }
}

fn own_states(lines: &Lines, questions: &[Question], shape: &Shape, budget: Budget) -> Batches {
    let mut packer = Packer {
        budget,
        room: budget.request_tokens.saturating_sub(shape.max_tokens),
        own_room: shape.max_tokens.saturating_sub(lines.head_tokens()),
        ..Packer::default()
    };
    for group in by_result(questions) {
        let tokens = group.iter().filter_map(|place| questions.get(*place)).map(Question::tokens).sum();
        let seq = group.first().and_then(|place| questions.get(*place)).map_or(0, |question| question.seq);
        packer.add(&group, tokens, lines.own_tokens(seq));
    }
    let skipped = packer.skipped;
    let batches = packer
        .finish()
        .into_iter()
        .map(|places| {
            let own = places.iter().filter_map(|place| questions.get(*place)).map(|question| question.seq);
            let state = lines.state(&own.collect(), shape);
            Batch { state: state.text, fitted: state.fitted, questions: places }
        })
        .collect();
    Batches { batches, skipped }
}

/// Places of the questions of each result, in the order the results first appear.
fn by_result(questions: &[Question]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
    for (place, question) in questions.iter().enumerate() {
        match groups.last_mut() {
            Some((seq, places)) if *seq == question.seq => places.push(place),
            _ => groups.push((question.seq, vec![place])),
        }
    }
    groups.into_iter().map(|(_, places)| places).collect()
}

/// Fills requests in order.
#[derive(Debug)]
struct Packer {
    budget: Budget,
    /// Tokens that a request has for questions.
    room: usize,
    /// Tokens that a state has for the lines about its results.
    own_room: usize,
    full: Vec<Vec<usize>>,
    current: Vec<usize>,
    tokens: usize,
    own_tokens: usize,
    skipped: usize,
}

impl Default for Packer {
    fn default() -> Self {
        Self {
            budget: Budget { request_tokens: 0, questions: 0 },
            room: 0,
            own_room: usize::MAX,
            full: Vec::new(),
            current: Vec::new(),
            tokens: 0,
            own_tokens: 0,
            skipped: 0,
        }
    }
}

impl Packer {
    fn add(&mut self, places: &[usize], tokens: usize, own_tokens: usize) {
        if tokens > self.room || own_tokens > self.own_room || places.len() > self.budget.questions {
            self.skipped += places.len();
            return;
        }
        if self.tokens + tokens > self.room
            || self.own_tokens + own_tokens > self.own_room
            || self.current.len() + places.len() > self.budget.questions
        {
            self.close();
        }
        self.current.extend(places);
        self.tokens += tokens;
        self.own_tokens += own_tokens;
    }

    fn close(&mut self) {
        if !self.current.is_empty() {
            self.full.push(std::mem::take(&mut self.current));
        }
        (self.tokens, self.own_tokens) = (0, 0);
    }

    fn finish(mut self) -> Vec<Vec<usize>> {
        self.close();
        self.full
    }
}
