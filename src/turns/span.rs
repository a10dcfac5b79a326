//! Which surface nodes a turn's checkpoint takes the place of (docs/turn-memory.md 2.5).

use super::refusal::TurnRefusal;
use super::table::Turn;
use crate::event::Seq;
use std::ops::Range;

/// One node of a surface window, in surface order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Its seq.
    pub seq: Seq,
    /// Smallest origin: its own seq if it was appended, else that of what it stands for.
    pub first_origin: Seq,
    /// Largest origin.
    pub last_origin: Seq,
    /// Whether it is an assistant message.
    pub assistant: bool,
    /// Whether it stands for something of its own: a session compaction's summary, or a whole-turn checkpoint.
    /// Neither is ever part of a turn, whatever its origin.
    pub foreign: bool,
}

/// Finds the span of a turn, as positions of the window: the contiguous run strictly after its opening message, to the last node that is
/// wholly the turn's. `window` runs from the turn's first node, or an earlier one, to the surface's end.
///
/// # Errors
/// [`TurnRefusal::TurnOpen`], [`TurnRefusal::Empty`], [`TurnRefusal::NoAssistant`] and
/// [`TurnRefusal::NonContiguous`].
pub fn turn_span(turn: &Turn, window: &[Member]) -> Result<Range<usize>, TurnRefusal> {
    let end = turn.end.ok_or(TurnRefusal::TurnOpen(turn.number))?;
    let inside = |seq: Seq| seq >= turn.start && seq <= end;
    let ours = |node: &Member| !node.foreign && inside(node.first_origin) && inside(node.last_origin);
    // What stands for the opening message alone is the opening message: a rewrite of it keeps its place.
    let opens = |node: &Member| {
        !node.foreign && turn.opening.is_some_and(|seq| node.first_origin == seq && node.last_origin == seq)
    };
    let from = window.iter().position(opens).map_or(0, |index| index + 1);
    let rest = window.get(from..).unwrap_or(&[]);
    let (Some(first), Some(last)) = (rest.iter().position(ours), rest.iter().rposition(ours)) else {
        return Err(TurnRefusal::Empty(turn.number));
    };
    let span = rest.get(first..=last).unwrap_or(&[]);
    if let Some(node) = span.iter().find(|node| !ours(node)) {
        return Err(TurnRefusal::NonContiguous { turn: turn.number, seq: node.seq });
    }
    if !span.iter().any(|node| node.assistant) {
        return Err(TurnRefusal::NoAssistant(turn.number));
    }
    Ok(from + first..from + last + 1)
}

#[cfg(test)]
mod tests {
    use super::super::table::{Entry, TurnTable};
    use super::*;

    fn node(seq: Seq) -> Member {
        Member { seq, first_origin: seq, last_origin: seq, assistant: false, foreign: false }
    }

    fn assistant(seq: Seq) -> Member {
        Member { assistant: true, ..node(seq) }
    }

    /// A replacement that stands for the events `first..=last`.
    fn standing(seq: Seq, first_origin: Seq, last_origin: Seq) -> Member {
        Member { first_origin, last_origin, ..node(seq) }
    }

    fn foreign(seq: Seq, first_origin: Seq, last_origin: Seq) -> Member {
        Member { foreign: true, ..standing(seq, first_origin, last_origin) }
    }

    fn turn(number: u32, start: Seq, end: Seq, opening: Seq) -> Turn {
        let mut table = TurnTable::default();
        table.read(start, Entry::Start { turn: number, time: 0.0 });
        table.read(opening, Entry::Person);
        table.read(end, Entry::End { turn: number, time: 1.0 });
        *table.get(number).unwrap()
    }

    fn span(turn: &Turn, window: &[Member]) -> Result<Vec<Seq>, &'static str> {
        let seqs = |span: Range<usize>| window[span].iter().map(|node| node.seq).collect();
        turn_span(turn, window).map(seqs).map_err(|refusal| refusal.code())
    }

    #[test]
    fn tricky_1_what_stands_before_the_opening_message_is_left_alone() {
        let window = [node(2), node(3), assistant(5), node(7), assistant(9)];
        assert_eq!(span(&turn(1, 1, 11, 3), &window), Ok(vec![5, 7, 9]));
    }

    #[test]
    fn tricky_2_a_session_compaction_is_never_part_of_a_turn() {
        let third = turn(3, 21, 50, 22);
        // It swallowed turns 1 and 2 and the head of turn 3, opening message included.
        let swallowed = [foreign(40, 2, 25), assistant(27), node(28), assistant(44)];
        assert_eq!(span(&third, &swallowed), Ok(vec![27, 28, 44]));
        // One that landed inside the turn's own run keeps the turn raw, even where all it holds is the turn's.
        let inside = [node(22), assistant(24), foreign(40, 25, 30), assistant(44)];
        assert_eq!(span(&third, &inside), Err("NON_CONTIGUOUS"));
    }

    #[test]
    fn tricky_3_a_checkpoint_that_landed_during_the_turn_is_not_in_its_span() {
        let window = [node(3), foreign(23, 4, 10), node(22), assistant(25), node(26)];
        assert_eq!(span(&turn(3, 21, 30, 22), &window), Ok(vec![25, 26]));
    }

    #[test]
    fn tricky_4_a_result_rewritten_in_a_later_turn_belongs_to_its_own() {
        let window = [node(2), assistant(3), standing(30, 4, 4), node(22), assistant(24)];
        assert_eq!(span(&turn(1, 1, 10, 2), &window), Ok(vec![3, 30]));
        assert_eq!(span(&turn(2, 21, 33, 22), &window), Ok(vec![24]));
    }

    #[test]
    fn tricky_5_a_turn_without_an_assistant_has_nothing_to_compact() {
        assert_eq!(span(&turn(1, 1, 10, 2), &[node(2), node(3)]), Err("NOTHING_TO_COMPACT"));
        assert_eq!(span(&turn(1, 1, 10, 2), &[node(2)]), Err("NOTHING_TO_COMPACT"));
    }

    #[test]
    fn a_node_that_stands_for_two_turns_belongs_to_neither() {
        let window = [node(2), assistant(3), standing(40, 4, 26), assistant(27)];
        assert_eq!(span(&turn(1, 1, 10, 2), &window), Ok(vec![3]));
        assert_eq!(span(&turn(2, 21, 50, 22), &window), Ok(vec![27]));
    }

    #[test]
    fn a_rewritten_opening_message_keeps_its_place() {
        assert_eq!(span(&turn(1, 1, 10, 2), &[standing(30, 2, 2), assistant(3)]), Ok(vec![3]));
    }

    #[test]
    fn an_open_turn_has_no_span_yet() {
        let mut open = turn(1, 1, 10, 2);
        open.end = None;
        assert_eq!(span(&open, &[node(2), assistant(3)]), Err("TURN_OPEN"));
    }
}
