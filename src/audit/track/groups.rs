//! Which results answer which message, so that an edit need not pair all of a huge batch again.

use crate::event::Seq;
use std::collections::BTreeMap;

/// The messages of a surface and the results that answer their calls, each by its place.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Messages that are no results.
    messages: BTreeMap<Seq, Seq>,
    /// Results that answer a call of the last message before them.
    answers: BTreeMap<Seq, Seq>,
    /// How many results answer a message, by its seq.
    answered: BTreeMap<Seq, u32>,
}

impl Groups {
    /// A message stands at this place.
    pub(super) fn message(&mut self, place: Seq, seq: Seq) {
        self.messages.insert(place, seq);
    }

    /// A result stands at this place and answers the message before it.
    pub(super) fn answer(&mut self, place: Seq, seq: Seq) {
        self.answers.insert(place, seq);
        if let Some((_, owner)) = self.before(place) {
            *self.answered.entry(owner).or_default() += 1;
        }
    }

    /// A result was rewritten in place.
    pub(super) fn rewritten(&mut self, place: Seq, seq: Seq) {
        if let Some(answer) = self.answers.get_mut(&place) {
            *answer = seq;
        }
    }

    /// How many results answer a message.
    pub(super) fn answered(&self, message: Seq) -> u32 {
        self.answered.get(&message).copied().unwrap_or(0)
    }

    /// Everything from `place` to before `next` left the surface.
    pub(super) fn cut(&mut self, place: Seq, next: Option<Seq>) -> Cut {
        let before = self.before(place).map(|(_, seq)| seq);
        let gone = take(&mut self.messages, place, next);
        let answers = take(&mut self.answers, place, next);
        let own = |(at, _): &&(Seq, Seq)| gone.first().is_none_or(|(first, _)| at < first);
        self.lose(before, answers.iter().take_while(own).count());
        for (_, seq) in &gone {
            self.answered.remove(seq);
        }
        Cut { before, behind: before.filter(|_| gone.is_empty()) }
    }

    /// A message that calls nothing comes to stand at `place`. Returns the results that answer nothing any
    /// more, and the next message behind them.
    pub(super) fn end_before(&mut self, place: Seq, cut: Cut) -> (Vec<Seq>, Option<Seq>) {
        let end = self.behind(place);
        let orphaned = take(&mut self.answers, place + 1, end);
        self.lose(cut.behind, orphaned.len());
        (orphaned.into_iter().map(|(_, seq)| seq).collect(), end)
    }

    /// Forgets who answers whom around `place`. Returns the place of the message before it, and of the one
    /// behind it.
    pub(super) fn reset(&mut self, place: Seq) -> (Seq, Option<Seq>) {
        let (from, end) = (self.before(place), self.behind(place));
        let start = from.map_or(0, |(place, _)| place);
        take(&mut self.answers, start, end);
        if let Some((_, owner)) = from {
            self.answered.remove(&owner);
        }
        (start, end)
    }

    fn before(&self, place: Seq) -> Option<(Seq, Seq)> {
        self.messages.range(..place).next_back().map(|(place, seq)| (*place, *seq))
    }

    fn behind(&self, place: Seq) -> Option<Seq> {
        self.messages.range(place + 1..).next().map(|(place, _)| *place)
    }

    fn lose(&mut self, message: Option<Seq>, answers: usize) {
        if let Some(count) = message.and_then(|message| self.answered.get_mut(&message)) {
            *count = count.saturating_sub(u32::try_from(answers).unwrap_or(u32::MAX));
        }
    }
}

/// What an edit left around itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// The last message before it.
    pub(super) before: Option<Seq>,
    /// The message that results behind it answered, where that still stands.
    behind: Option<Seq>,
}

/// Takes what stands from `from` to before `to` out of a map.
fn take(map: &mut BTreeMap<Seq, Seq>, from: Seq, to: Option<Seq>) -> Vec<(Seq, Seq)> {
    let inside = |(place, _): &(&Seq, &Seq)| to.is_none_or(|to| **place < to);
    let taken: Vec<(Seq, Seq)> =
        map.range(from..).take_while(inside).map(|(place, seq)| (*place, *seq)).collect();
    for (place, _) in &taken {
        map.remove(place);
    }
    taken
}
