//! Generated sessions: lists of moves, played onto a log.

use crate::log::{Body, CHECKPOINT, Event, Log, Mark, READ, REWIND, Who};
use crate::model;
use proptest::collection::vec;
use proptest::prelude::*;

/// Call ids that come again, below; those that do not, above.
const FRESH: u32 = 100;
/// A call id that no message holds.
const UNKNOWN: u32 = 99;

#[derive(Debug, Clone)]
pub(crate) enum Move {
    User(Who),
    Hollow(Who),
    /// An assistant message with these calls: an id that comes again, or a fresh one; and whether it is the
    /// checkpoint tool's.
    Calls(Vec<(Option<u32>, bool)>),
    Prose,
    /// An assistant message without content, which derives no message or an empty one.
    Silent(bool),
    /// Answers one of the last message's open calls.
    Answer(u8),
    /// A result that nobody asked for, or too late.
    Stray(u32),
    LogOnly,
    /// Shortens a result in place.
    Prune(u8),
    /// Puts a summary in the place of a run that splits no pair, from here and this long.
    Compact(u8, u8, bool),
    /// A fold back to this share of the log.
    Fold(u8),
}

fn batch() -> impl Strategy<Value = Vec<(Option<u32>, bool)>> {
    let call = (prop_oneof![3 => Just(None), 1 => (0..4u32).prop_map(Some)], prop::bool::weighted(0.15));
    prop_oneof![12 => vec(call.clone(), 1..4), 1 => vec(call, 4..=16)]
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![1 => Just(Who::Person), 1 => Just(Who::Memory), 2 => Just(Who::Plugin)]
}

pub(crate) fn moves(most: usize) -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => who().prop_map(Move::User),
        1 => who().prop_map(Move::Hollow),
        8 => batch().prop_map(Move::Calls),
        2 => Just(Move::Prose),
        1 => any::<bool>().prop_map(Move::Silent),
        20 => any::<u8>().prop_map(Move::Answer),
        1 => (0..4u32).prop_map(Move::Stray),
        1 => Just(Move::LogOnly),
        2 => any::<u8>().prop_map(Move::Prune),
        3 => (any::<u8>(), 1..6u8, any::<bool>())
            .prop_map(|(from, length, memory)| Move::Compact(from, length, memory)),
        1 => any::<u8>().prop_map(Move::Fold),
    ];
    vec(one, 0..most)
}

/// Which call id a mark carries.
#[derive(Debug, Clone)]
enum Named {
    Nothing,
    Open(u8),
    Unknown,
}

/// A log, the mark to fold, and whether a turn is open.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) log: Log,
    pub(crate) mark: Mark,
    pub(crate) open_turn: bool,
}

pub(crate) fn scenes() -> impl Strategy<Value = Scene> {
    let open = any::<u8>().prop_map(Named::Open);
    let named = prop_oneof![3 => Just(Named::Nothing), 2 => open, 1 => Just(Named::Unknown)];
    let carrier = prop::option::weighted(0.7, (batch(), 0..3usize));
    let rewind = prop::option::weighted(0.6, (batch(), 0..3usize));
    (moves(12), carrier, named, moves(26), rewind, prop::bool::weighted(0.8)).prop_map(
        |(before, carrier, named, after, rewind, open_turn)| {
            let mut stage = Stage::default();
            before.iter().for_each(|one| stage.play(one));
            if let Some((mut calls, early)) = carrier {
                calls[0].1 = true;
                calls.reverse();
                stage.batch(&calls, early);
            }
            let call = match named {
                Named::Nothing => None,
                Named::Open(which) if !stage.open.is_empty() => {
                    Some(stage.open[usize::from(which) % stage.open.len()])
                }
                Named::Open(_) | Named::Unknown => Some(UNKNOWN),
            };
            let mark = Mark { length: stage.log.len(), call };
            after.iter().for_each(|one| stage.play(one));
            if let Some((calls, early)) = rewind {
                while !stage.open.is_empty() {
                    stage.play(&Move::Answer(0));
                }
                stage.batch(&calls, early);
                stage.says(&[(u32::MAX, REWIND)]);
            }
            Scene { log: stage.log, mark, open_turn }
        },
    )
}

/// A log while moves are played onto it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage {
    pub(crate) log: Log,
    /// Ids of the last message's open calls.
    open: Vec<u32>,
    ids: u32,
}

impl Stage {
    pub(crate) fn on(log: Log) -> Self {
        Self { log, open: vec![], ids: 500 }
    }

    fn add(&mut self, event: Event) {
        self.log.append(event);
    }

    fn chars(&self) -> u32 {
        self.log.len() * 37 % 90
    }

    fn says(&mut self, calls: &[(u32, u32)]) {
        self.open = calls.iter().map(|call| call.0).collect();
        self.add(Event::new(Body::Assistant(calls.to_vec()), self.chars()));
    }

    /// A message with calls, of which some are answered at once.
    fn batch(&mut self, calls: &[(Option<u32>, bool)], early: usize) {
        let calls: Vec<_> = calls
            .iter()
            .map(|&(id, checkpoint)| {
                self.ids += 1;
                (id.unwrap_or(FRESH + self.ids), if checkpoint { CHECKPOINT } else { READ })
            })
            .collect();
        self.says(&calls);
        (0..early).for_each(|_| self.play(&Move::Answer(0)));
    }

    pub(crate) fn play(&mut self, one: &Move) {
        let chars = self.chars();
        let hollow = |body, absent: bool| Event { empty: !absent, absent, ..Event::new(body, 0) };
        match one {
            Move::User(who) => self.add(Event::new(Body::User(*who), chars)),
            Move::Hollow(who) => self.add(hollow(Body::User(*who), false)),
            Move::Calls(calls) => self.batch(calls, 0),
            Move::Prose => self.says(&[]),
            Move::Silent(absent) => {
                self.open.clear();
                self.add(hollow(Body::Assistant(vec![]), *absent));
            }
            Move::Answer(which) if !self.open.is_empty() => {
                let id = self.open.remove(usize::from(*which) % self.open.len());
                self.add(Event::new(Body::Result(id), chars));
            }
            Move::Stray(id) => self.add(Event::new(Body::Result(*id), chars)),
            Move::Answer(_) | Move::LogOnly => self.add(Event::new(Body::LogOnly, 0)),
            Move::Prune(which) => {
                let is_result = |seq: &u32| matches!(self.log.at(*seq).body, Body::Result(_));
                let results: Vec<u32> = self.log.nodes.iter().copied().filter(is_result).collect();
                if !results.is_empty() {
                    self.log.rewrite(results[usize::from(*which) % results.len()]);
                }
            }
            Move::Compact(from, length, memory) => {
                let from = usize::from(*from) * self.log.nodes.len() / 256;
                let run = run_without_split(&self.log, from, usize::from(*length));
                let who = if *memory { Who::Memory } else { Who::Plugin };
                if !run.is_empty() {
                    self.log.replace(&run, Body::User(who), chars);
                }
            }
            Move::Fold(share) => {
                let length = u32::from(*share) * self.log.len() / 256;
                let Ok(plan) = model::decide(&self.log, Mark { length, call: None }, true) else { return };
                self.log.land_all(&plan.edits());
            }
        }
    }
}

/// A run as the harness's compaction may take it, between two cuts that no call is open across; one that was
/// never answered is open for ever.
fn run_without_split(log: &Log, from: usize, length: usize) -> Vec<u32> {
    let mut open: Vec<u32> = Vec::new();
    let mut cuts = vec![];
    for &seq in &log.nodes {
        cuts.push(open.is_empty());
        match &log.at(seq).body {
            Body::Assistant(calls) => open.extend(calls.iter().map(|call| call.0)),
            Body::Result(id) => {
                if let Some(first) = open.iter().position(|call| call == id) {
                    open.remove(first);
                }
            }
            Body::User(_) | Body::LogOnly => {}
        }
    }
    cuts.push(open.is_empty());
    let Some(start) = (from..log.nodes.len()).find(|&at| cuts[at]) else { return vec![] };
    let end = (start + length..=log.nodes.len()).find(|&at| cuts[at]).unwrap_or(start);
    log.nodes[start..end].to_vec()
}
