//! Which surface nodes a turn's checkpoint takes the place of (spec/turn-memory.md 2.5, rulings).

use super::refusal::TurnRefusal;
use super::table::Turn;
use crate::event::Seq;
use crate::pairing::Pairing;
use crate::surface::{Kind, Node, Surface};

/// What else is known of a node of the window, in the window's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extra {
    /// Largest origin of the node; its smallest one is in the surface columns.
    pub last_origin: Seq,
    /// Whether it stands for something of its own: a session compaction's summary, or a whole-turn checkpoint.
    /// Neither is ever part of a turn, whatever its origin.
    pub foreign: bool,
}

/// Finds the span of a turn: the contiguous run strictly after its opening message, to the last node that is
/// wholly the turn's. `window` runs from the turn's first node, or an earlier one, to the surface's end.
///
/// # Errors
/// [`TurnRefusal::Empty`], [`TurnRefusal::NoAssistant`], [`TurnRefusal::NonContiguous`],
/// [`TurnRefusal::UnbalancedOpen`] and [`TurnRefusal::UnbalancedOrphan`]; [`TurnRefusal::Script`] when `extra`
/// has not one entry a node.
pub fn turn_span(turn: &Turn, window: &Surface, extra: &[Extra]) -> Result<Vec<Seq>, TurnRefusal> {
    let nodes = window.nodes();
    if nodes.len() != extra.len() {
        let what = "the window's columns differ in length".to_owned();
        return Err(TurnRefusal::Script { row: extra.len(), what });
    }
    let end = turn.end.ok_or(TurnRefusal::TurnOpen(turn.number))?;
    let inside = |seq: Seq| seq >= turn.start && seq <= end;
    let member =
        |(node, extra): (&Node, &Extra)| !extra.foreign && inside(node.origin) && inside(extra.last_origin);
    // What stands for the opening message alone is the opening message: a rewrite of it keeps its place.
    let is_opening = |node: &Node, extra: &Extra| {
        !extra.foreign && turn.opening.is_some_and(|seq| node.origin == seq && extra.last_origin == seq)
    };
    let opening = nodes.iter().zip(extra).position(|(node, extra)| is_opening(node, extra));
    let from = opening.map_or(0, |index| index + 1);
    let rest = || nodes.iter().zip(extra).enumerate().skip(from);
    let (Some((first, _)), Some((last, _))) =
        (rest().find(|(_, pair)| member(*pair)), rest().rfind(|(_, pair)| member(*pair)))
    else {
        return Err(TurnRefusal::Empty(turn.number));
    };
    if let Some((_, (node, _))) =
        rest().skip(first - from).take(last - first).find(|(_, pair)| !member(*pair))
    {
        return Err(TurnRefusal::NonContiguous { turn: turn.number, seq: node.seq });
    }
    let span = nodes.get(first..=last).unwrap_or(&[]);
    balanced(window, span)?;
    if !span.iter().any(|node| node.kind == Kind::Assistant) {
        return Err(TurnRefusal::NoAssistant(turn.number));
    }
    Ok(span.iter().map(|node| node.seq).collect())
}

/// A span is replaced whole, so every call in it must be answered in it and every result must answer one.
fn balanced(window: &Surface, span: &[Node]) -> Result<(), TurnRefusal> {
    let mut pairing = Pairing::new(window);
    let mut unanswered = None;
    for node in span {
        if !pairing.take(node) {
            return Err(TurnRefusal::UnbalancedOrphan(node.seq));
        }
        unanswered = if pairing.balanced() { None } else { unanswered.or(Some(node.seq)) };
    }
    unanswered.map_or(Ok(()), |seq| Err(TurnRefusal::UnbalancedOpen(seq)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::{Columns, PERSON};

    /// A surface window for tests: `(seq, kind, calls)`, origins equal to seqs unless stated.
    #[derive(Default)]
    struct Window {
        nodes: Vec<Seq>,
        facts: Vec<u8>,
        origins: Vec<Seq>,
        calls: Vec<u32>,
        pool: Vec<u32>,
        extra: Vec<Extra>,
    }

    const USER: u8 = 1;
    const PROMPT: u8 = 1 | PERSON;
    const ASSISTANT: u8 = 2;
    const RESULT: u8 = 3;

    impl Window {
        fn node(mut self, seq: Seq, facts: u8, calls: &[u32]) -> Self {
            let at = seq as usize;
            if self.facts.len() <= at {
                self.facts.resize(at + 1, 0);
                self.origins.resize(at + 1, 0);
                self.calls.resize(at + 1, 0);
            }
            self.nodes.push(seq);
            self.facts[at] = facts;
            self.origins[at] = seq;
            self.calls[at] = u32::try_from(self.pool.len()).unwrap();
            self.pool.push(u32::try_from(calls.len()).unwrap());
            for call in calls {
                self.pool.extend([*call, 0]);
            }
            self.extra.push(Extra { last_origin: seq, foreign: false });
            self
        }

        /// The last node stands for events `first..=last`.
        fn standing_for(mut self, first: Seq, last: Seq) -> Self {
            let at = *self.nodes.last().unwrap() as usize;
            self.origins[at] = first;
            self.extra.last_mut().unwrap().last_origin = last;
            self
        }

        fn foreign(mut self) -> Self {
            self.extra.last_mut().unwrap().foreign = true;
            self
        }

        fn span(&self, turn: &Turn) -> Result<Vec<Seq>, &'static str> {
            let chars = vec![0; self.facts.len()];
            let surface = Surface::parse(&Columns {
                nodes: &self.nodes,
                facts: &self.facts,
                chars: &chars,
                origins: &self.origins,
                calls: &self.calls,
                pool: &self.pool,
            })
            .unwrap();
            turn_span(turn, &surface, &self.extra).map_err(|refusal| refusal.code())
        }
    }

    fn turn(number: u32, start: Seq, end: Seq, opening: Seq) -> Turn {
        use super::super::table::{Entry, TurnTable};
        let mut table = TurnTable::default();
        table.read(start, Entry::Start { turn: number, time: 0.0 });
        table.read(opening, Entry::Person);
        table.read(end, Entry::End { turn: number, time: 1.0 });
        *table.get(number).unwrap()
    }

    #[test]
    fn tricky_1_what_stands_before_the_opening_message_is_left_alone() {
        let window = Window::default()
            .node(2, USER, &[])
            .node(3, PROMPT, &[])
            .node(5, ASSISTANT, &[1])
            .node(7, RESULT, &[1])
            .node(9, ASSISTANT, &[]);
        assert_eq!(window.span(&turn(1, 1, 11, 3)), Ok(vec![5, 7, 9]));
    }

    #[test]
    fn tricky_2_a_session_compaction_is_never_part_of_a_turn() {
        // It swallowed turns 1 and 2 and the head of turn 3, opening message included.
        let swallowed = Window::default()
            .node(40, USER, &[])
            .standing_for(2, 25)
            .foreign()
            .node(27, ASSISTANT, &[1])
            .node(28, RESULT, &[1])
            .node(44, ASSISTANT, &[]);
        assert_eq!(swallowed.span(&turn(3, 21, 50, 22)), Ok(vec![27, 28, 44]));
        // One that landed inside the turn's own run keeps the turn raw.
        let inside = Window::default()
            .node(22, PROMPT, &[])
            .node(24, ASSISTANT, &[])
            .node(40, USER, &[])
            .standing_for(25, 30)
            .foreign()
            .node(44, ASSISTANT, &[]);
        assert_eq!(inside.span(&turn(3, 21, 50, 22)), Err("NON_CONTIGUOUS"));
    }

    #[test]
    fn tricky_3_a_checkpoint_that_landed_during_the_turn_is_not_in_its_span() {
        let window = Window::default()
            .node(3, PROMPT, &[])
            .node(23, USER, &[])
            .standing_for(4, 10)
            .foreign()
            .node(22, PROMPT, &[])
            .node(25, ASSISTANT, &[1])
            .node(26, RESULT, &[1]);
        assert_eq!(window.span(&turn(3, 21, 30, 22)), Ok(vec![25, 26]));
    }

    #[test]
    fn tricky_4_a_result_rewritten_in_a_later_turn_belongs_to_its_own() {
        let window = Window::default()
            .node(2, PROMPT, &[])
            .node(3, ASSISTANT, &[1])
            .node(30, RESULT, &[1])
            .standing_for(4, 4)
            .node(22, PROMPT, &[])
            .node(24, ASSISTANT, &[]);
        assert_eq!(window.span(&turn(1, 1, 10, 2)), Ok(vec![3, 30]));
        assert_eq!(window.span(&turn(2, 21, 33, 22)), Ok(vec![24]));
    }

    #[test]
    fn tricky_5_a_turn_without_an_assistant_has_nothing_to_compact() {
        let window = Window::default().node(2, PROMPT, &[]).node(3, USER, &[]);
        assert_eq!(window.span(&turn(1, 1, 10, 2)), Err("NOTHING_TO_COMPACT"));
        let empty = Window::default().node(2, PROMPT, &[]);
        assert_eq!(empty.span(&turn(1, 1, 10, 2)), Err("NOTHING_TO_COMPACT"));
    }

    #[test]
    fn tricky_6_pairing_is_by_occurrence_and_orphans_keep_the_turn_raw() {
        let reversed = Window::default()
            .node(2, PROMPT, &[])
            .node(3, ASSISTANT, &[1, 2])
            .node(4, RESULT, &[2])
            .node(5, RESULT, &[1]);
        assert_eq!(reversed.span(&turn(1, 1, 10, 2)), Ok(vec![3, 4, 5]));
        let orphan = Window::default()
            .node(2, PROMPT, &[])
            .node(3, ASSISTANT, &[1])
            .node(4, RESULT, &[1])
            .node(5, RESULT, &[1]);
        assert_eq!(orphan.span(&turn(1, 1, 10, 2)), Err("UNBALANCED_ORPHAN"));
        let open = Window::default().node(2, PROMPT, &[]).node(3, ASSISTANT, &[1]).node(4, ASSISTANT, &[]);
        assert_eq!(open.span(&turn(1, 1, 10, 2)), Err("UNBALANCED_OPEN"));
        let repaired = Window::default().node(2, PROMPT, &[]).node(3, ASSISTANT, &[1]).node(8, RESULT, &[1]);
        assert_eq!(repaired.span(&turn(1, 1, 10, 2)), Ok(vec![3, 8]));
    }

    #[test]
    fn a_node_that_stands_for_two_turns_belongs_to_neither() {
        let window = Window::default()
            .node(2, PROMPT, &[])
            .node(3, ASSISTANT, &[])
            .node(40, USER, &[])
            .standing_for(4, 26)
            .node(27, ASSISTANT, &[]);
        assert_eq!(window.span(&turn(1, 1, 10, 2)), Ok(vec![3]));
        assert_eq!(window.span(&turn(2, 21, 50, 22)), Ok(vec![27]));
    }

    #[test]
    fn a_rewritten_opening_message_keeps_its_place() {
        let window = Window::default().node(30, USER, &[]).standing_for(2, 2).node(3, ASSISTANT, &[]);
        assert_eq!(window.span(&turn(1, 1, 10, 2)), Ok(vec![3]));
    }

    #[test]
    fn columns_of_different_length_are_refused() {
        let mut window = Window::default().node(2, PROMPT, &[]).node(3, ASSISTANT, &[]);
        window.extra.pop();
        assert_eq!(window.span(&turn(1, 1, 10, 2)), Err("BAD_COLUMNS"));
    }
}
