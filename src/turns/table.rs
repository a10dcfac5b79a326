//! The turns of a log, read once in order: where each begins and ends, which message started it, whether a
//! checkpoint stands for it (docs/turn-memory.md 2.5). The table grows with the turns, never with the events.

use super::refusal::TurnRefusal;
use crate::event::Seq;
use std::collections::BTreeMap;

/// One event that the table reads; JavaScript passes over all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    /// `turn/start`, with its time in epoch milliseconds.
    Start {
        /// The turn's number.
        turn: u32,
        /// Epoch milliseconds.
        time: f64,
    },
    /// `turn/end`, with its time in epoch milliseconds.
    End {
        /// The turn's number.
        turn: u32,
        /// Epoch milliseconds.
        time: f64,
    },
    /// An appended `user/message` from a person.
    Person,
    /// Any other appended `user/message`.
    Message,
    /// A whole-turn checkpoint of this package, whatever its format version.
    Checkpoint {
        /// The turn it stands for.
        turn: u32,
    },
    /// `compaction/start`.
    CompactionStart,
    /// `compaction/end`.
    CompactionEnd,
    /// `session/end-seed`: what is before it came from a seed, open compactions included.
    EndSeed,
}

/// One turn of the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// Its number.
    pub number: u32,
    /// Seq of its `turn/start`.
    pub start: Seq,
    /// When it started, epoch milliseconds.
    pub start_time: f64,
    /// Its last seq, once it has ended; an interrupted turn ends before the next `turn/start`.
    pub end: Option<Seq>,
    /// When it ended, epoch milliseconds; absent for an open and for an interrupted turn.
    pub end_time: Option<f64>,
    /// Seq of the message that started it: the first appended message of a person, else of anybody.
    pub opening: Option<Seq>,
    opened_by_person: bool,
    /// Seq of its newest whole-turn checkpoint in the log.
    pub checkpoint: Option<Seq>,
}

/// All turns of a log so far.
#[derive(Debug, Clone, Default)]
pub struct TurnTable {
    turns: Vec<Turn>,
    by_number: BTreeMap<u32, usize>,
    compacting: bool,
}

impl TurnTable {
    /// Reads the next entry; entries come in log order.
    pub fn read(&mut self, seq: Seq, entry: Entry) {
        match entry {
            Entry::Start { turn, time } => self.start(seq, turn, time),
            Entry::End { turn, time } => {
                if let Some(open) = self.get_mut(turn) {
                    open.end = Some(seq);
                    open.end_time = Some(time);
                }
            }
            Entry::Person | Entry::Message => {
                let person = entry == Entry::Person;
                if let Some(open) = self.turns.last_mut().filter(|turn| turn.end.is_none())
                    && (open.opening.is_none() || (person && !open.opened_by_person))
                {
                    open.opening = Some(seq);
                    open.opened_by_person = person;
                }
            }
            Entry::Checkpoint { turn } => {
                if let Some(turn) = self.get_mut(turn) {
                    turn.checkpoint = Some(seq);
                }
            }
            Entry::CompactionStart => self.compacting = true,
            Entry::CompactionEnd | Entry::EndSeed => self.compacting = false,
        }
    }

    fn start(&mut self, seq: Seq, number: u32, time: f64) {
        if let Some(before) = self.turns.last_mut().filter(|turn| turn.end.is_none()) {
            before.end = Some(seq.saturating_sub(1));
        }
        let turn = Turn {
            number,
            start: seq,
            start_time: time,
            end: None,
            end_time: None,
            opening: None,
            opened_by_person: false,
            checkpoint: None,
        };
        // The last start of a number wins; the earlier one is no turn of its own any more.
        if let Some(stale) = self.by_number.get(&number).copied() {
            self.turns.remove(stale);
            self.by_number.values_mut().filter(|index| **index > stale).for_each(|index| *index -= 1);
        }
        self.by_number.insert(number, self.turns.len());
        self.turns.push(turn);
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut Turn> {
        let index = *self.by_number.get(&number)?;
        self.turns.get_mut(index)
    }

    /// All turns, oldest first.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The turn with this number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&Turn> {
        self.turns.get(*self.by_number.get(&number)?)
    }

    /// The turn with this number, if it can be given a checkpoint.
    ///
    /// # Errors
    /// [`TurnRefusal::TurnNotFound`], [`TurnRefusal::TurnOpen`], [`TurnRefusal::AlreadyReplaced`].
    pub fn candidate(&self, number: u32) -> Result<&Turn, TurnRefusal> {
        let turn = self.get(number).ok_or(TurnRefusal::TurnNotFound(number))?;
        if turn.end.is_none() {
            return Err(TurnRefusal::TurnOpen(number));
        }
        if turn.checkpoint.is_some() {
            return Err(TurnRefusal::AlreadyReplaced(number));
        }
        Ok(turn)
    }

    /// The newest turn of all.
    #[must_use]
    pub fn newest(&self) -> Option<&Turn> {
        self.turns.last()
    }

    /// Numbers of the ended turns without a checkpoint, newest first.
    #[must_use]
    pub fn unsummarized(&self) -> Vec<u32> {
        let raw = self.turns.iter().rev().filter(|turn| turn.end.is_some() && turn.checkpoint.is_none());
        raw.map(|turn| turn.number).collect()
    }

    /// Whether any turn has ended.
    #[must_use]
    pub fn any_completed(&self) -> bool {
        self.turns.iter().any(|turn| turn.end.is_some())
    }

    /// Whether a turn that began after this one has ended.
    #[must_use]
    pub fn ended_after(&self, number: u32) -> bool {
        let later = self.turns.iter().rev().take_while(|turn| turn.number != number);
        later.into_iter().any(|turn| turn.end.is_some())
    }

    /// Whether the newest turn is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.newest().is_some_and(|turn| turn.end.is_none())
    }

    /// Whether a session compaction is running: started after the last seed and not ended.
    #[must_use]
    pub fn is_compacting(&self) -> bool {
        self.compacting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[Entry]) -> TurnTable {
        let mut table = TurnTable::default();
        for (seq, entry) in entries.iter().enumerate() {
            table.read(u32::try_from(seq).unwrap(), *entry);
        }
        table
    }

    fn start(turn: u32) -> Entry {
        Entry::Start { turn, time: f64::from(turn) * 10.0 }
    }

    fn end(turn: u32) -> Entry {
        Entry::End { turn, time: f64::from(turn) * 10.0 + 5.0 }
    }

    #[test]
    fn turns_begin_and_end_where_the_log_says() {
        let table = table(&[start(1), Entry::Person, end(1), start(2), Entry::Message]);
        let first = table.get(1).unwrap();
        assert_eq!(
            (first.start, first.end, first.opening, first.end_time),
            (0, Some(2), Some(1), Some(15.0))
        );
        assert!(table.is_open());
        assert_eq!(table.candidate(2), Err(TurnRefusal::TurnOpen(2)));
        assert_eq!(table.candidate(9), Err(TurnRefusal::TurnNotFound(9)));
        assert_eq!(table.unsummarized(), vec![1]);
    }

    #[test]
    fn the_opening_message_is_the_first_of_a_person_else_of_anybody() {
        let table = table(&[
            start(1),
            Entry::Message,
            Entry::Person,
            Entry::Person,
            end(1),
            start(2),
            Entry::Message,
            Entry::Message,
            end(2),
            start(3),
            end(3),
            Entry::Person,
        ]);
        let openings: Vec<Option<Seq>> = table.turns().iter().map(|turn| turn.opening).collect();
        assert_eq!(openings, vec![Some(2), Some(6), None]);
    }

    #[test]
    fn an_interrupted_turn_ends_before_the_next_start() {
        let table = table(&[start(1), Entry::Person, start(2), end(2)]);
        let first = table.get(1).unwrap();
        assert_eq!((first.end, first.end_time), (Some(1), None));
        assert_eq!(table.unsummarized(), vec![2, 1]);
    }

    #[test]
    fn the_last_start_and_end_of_a_number_win() {
        let table = table(&[start(1), end(1), start(2), end(2), start(1), Entry::Person, end(1), end(1)]);
        assert_eq!(table.turns().iter().map(|turn| turn.number).collect::<Vec<_>>(), vec![2, 1]);
        assert_eq!(table.get(1).map(|turn| (turn.start, turn.end)), Some((4, Some(7))));
        assert_eq!(table.get(2).map(|turn| turn.start), Some(2));
    }

    #[test]
    fn a_checkpoint_in_the_log_counts_even_when_something_absorbed_it() {
        let table = table(&[start(1), end(1), Entry::Checkpoint { turn: 1 }, Entry::Checkpoint { turn: 7 }]);
        assert_eq!(table.candidate(1), Err(TurnRefusal::AlreadyReplaced(1)));
        assert!(table.unsummarized().is_empty());
        assert!(table.any_completed());
    }

    #[test]
    fn a_turn_knows_whether_another_has_ended_since() {
        let mut table = table(&[start(1), end(1), start(2)]);
        assert!(!table.ended_after(1));
        table.read(3, end(2));
        assert!(table.ended_after(1));
        assert!(!table.ended_after(2));
    }

    #[test]
    fn a_compaction_left_open_by_a_seed_is_not_running() {
        let mut table = table(&[Entry::CompactionStart]);
        assert!(table.is_compacting());
        table.read(1, Entry::EndSeed);
        assert!(!table.is_compacting());
        table.read(2, Entry::CompactionStart);
        table.read(3, Entry::CompactionEnd);
        assert!(!table.is_compacting());
    }

    #[test]
    fn ends_and_messages_without_a_turn_change_nothing() {
        let table = table(&[end(4), Entry::Person, Entry::Checkpoint { turn: 1 }]);
        assert!(table.turns().is_empty());
        assert!(!table.is_open());
    }
}
