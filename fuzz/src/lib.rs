//! How fuzz input is read. Inputs are text, so that a seed or a crash can be read and written by hand.

use tool_rewind::plan::{Edit, Plan, RequestPlan};
use tool_rewind::region::Target;
use tool_rewind::surface::{ABSENT, Columns, EMPTY, MEMORY, Node, PERSON, Surface};
use tool_rewind::wire::{Tail, faults};

/// Columns that own what [`Columns`] borrows.
#[derive(Debug, Default, Clone)]
pub struct Owned {
    nodes: Vec<u32>,
    facts: Vec<u8>,
    chars: Vec<u32>,
    origins: Vec<u32>,
    calls: Vec<u32>,
    pool: Vec<u32>,
}

impl Owned {
    /// Reads raw columns: a line each, in the order of [`Columns`], decimal numbers between spaces, and a line
    /// for the mark: log length, call, name, last assistant message. Anything that is no number is left out.
    #[must_use]
    pub fn raw(text: &str) -> (Self, Target) {
        let mut lines = text.lines().map(|line| line.split(' ').filter_map(|word| word.parse::<u32>().ok()));
        let mut column = || lines.next().into_iter().flatten().collect::<Vec<u32>>();
        let nodes = column();
        let facts = column().into_iter().map(|fact| (fact & 0xff) as u8).collect();
        let columns =
            Self { nodes, facts, chars: column(), origins: column(), calls: column(), pool: column() };
        (columns, target(&column()))
    }

    /// The columns as the core takes them.
    #[must_use]
    pub fn view(&self) -> Columns<'_> {
        let Self { nodes, facts, chars, origins, calls, pool } = self;
        Columns { nodes, facts, chars, origins, calls, pool }
    }

    fn push(&mut self, fact: u8, length: u32) {
        let seq = u32::try_from(self.facts.len()).unwrap_or(u32::MAX);
        self.nodes.push(seq);
        self.facts.push(fact);
        self.chars.push(length);
        self.origins.push(seq);
        self.calls.push(0);
    }

    fn last_assistant(&self) -> Option<u32> {
        let appended = |at: &usize| self.origins.get(*at).is_some_and(|origin| *origin as usize == *at);
        let last = (0..self.facts.len()).rev().filter(|&at| self.facts[at] & 3 == 2).find(appended);
        last.and_then(|at| u32::try_from(at).ok())
    }

    fn call(&mut self, ids: &[u32], named: bool) {
        if let Some(offset) = self.calls.last_mut() {
            *offset = u32::try_from(self.pool.len()).unwrap_or(u32::MAX);
        }
        self.pool.push(u32::try_from(ids.len()).unwrap_or(u32::MAX));
        for &id in ids {
            self.pool.extend([id, if named { id + 1 } else { 0 }]);
        }
    }
}

/// A mark by its numbers: log length, call, name of the checkpoint tool, last assistant message before it.
fn target(numbers: &[u32]) -> Target {
    Target {
        mark: "1".to_owned(),
        log_length: numbers.first().copied().unwrap_or(0),
        last_assistant: numbers.get(3).copied(),
        call: numbers.get(1).copied(),
        checkpoint_name: numbers.get(2).copied(),
        open_turn: true,
    }
}

/// A session in shorthand, a character an event: what is on its surface, and the mark.
#[derive(Debug, Clone)]
pub struct Script {
    /// The surface.
    pub columns: Owned,
    /// The mark to fold from.
    pub target: Target,
}

impl Script {
    /// Reads a shorthand.
    ///
    /// `U` a person's message, `P` a plugin's, `M` a turn-memory checkpoint, `E` an empty message, `X` an event
    /// that derives none, `I` a person's image; `A` an assistant message, the digits after it its calls; `r` and a
    /// digit the result of that call; `|` the mark; `c` and a digit the mark's call, `n` and a digit the
    /// checkpoint tool by the name of that call; `o` makes the last node as old as the log; `-` takes the last
    /// node off the surface, `^` swaps the last two; `.` ends the turn. Anything else is nothing.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut script = Self { columns: Owned::default(), target: target(&[]) };
        let columns = &mut script.columns;
        columns.pool.push(0);
        let mut chars = text.chars().peekable();
        while let Some(event) = chars.next() {
            let mut digits = Vec::new();
            while let Some(digit) = chars.peek().and_then(|next| next.to_digit(10)) {
                digits.push(digit + 1);
                chars.next();
            }
            let digit = digits.first().copied();
            let length = 10 * u32::try_from(text.len() - chars.clone().count()).unwrap_or(0);
            match event {
                'U' => columns.push(1 | PERSON, length),
                'P' => columns.push(1, length),
                'M' => columns.push(1 | MEMORY, length),
                'E' => columns.push(1 | EMPTY, 0),
                'X' => {
                    columns.push(2 | ABSENT, 0);
                    columns.call(&[], true);
                }
                'I' => columns.push(1 | PERSON, 0),
                'A' => {
                    columns.push(2, length);
                    columns.call(&digits, true);
                }
                'r' => {
                    columns.push(3, length);
                    columns.call(&[digit.unwrap_or(1)], false);
                }
                '|' => {
                    script.target.log_length = u32::try_from(columns.facts.len()).unwrap_or(u32::MAX);
                    script.target.last_assistant = columns.last_assistant();
                }
                'c' => script.target.call = digit,
                'n' => script.target.checkpoint_name = digit.map(|digit| digit + 1),
                'o' => columns.origins.iter_mut().last().into_iter().for_each(|origin| *origin = 0),
                '-' => drop(columns.nodes.pop()),
                '^' => {
                    if let [.., one, other] = columns.nodes.as_mut_slice() {
                        std::mem::swap(one, other);
                    }
                }
                '.' => script.target.open_turn = false,
                _ => {}
            }
        }
        script
    }
}

/// Applies the edits of a plan one by one, and panics where one breaks the law of every edit (docs/rewind.md 0, 3.3).
///
/// # Panics
/// When an edit takes what is not there, adds a wire fault, or takes a person's words without a quote.
pub fn assert_lawful(surface: &Surface, plan: &Plan) {
    let mut nodes: Vec<Node> = surface.nodes().to_vec();
    let before = faults(surface, nodes.iter(), Tail::Live);
    let mut folded = 0;
    for edit in plan.edits() {
        let (seqs, leaves) = match edit {
            Edit::Report { seqs } | Edit::Pointer { seqs } => (seqs, true),
            Edit::ReportInPlace { ref seq } | Edit::Sibling { ref seq } => (std::slice::from_ref(seq), false),
        };
        let from = nodes.iter().position(|node| Some(&node.seq) == seqs.first()).expect("the run stands");
        let run = from..from + seqs.len();
        assert!(
            nodes[run.clone()].iter().map(|node| node.seq).eq(seqs.iter().copied()),
            "the run is in one piece"
        );
        folded += seqs.len();
        if leaves {
            let lost =
                nodes[run.clone()].iter().find(|node| node.protected() && !plan.quotes.contains(&node.seq));
            assert!(lost.is_none(), "a person's words go unquoted: {lost:?}");
            nodes.splice(run, [Node::stand_in(seqs[0])]);
        }
        let now = faults(surface, nodes.iter(), Tail::Live);
        assert!(now.iter().all(|fault| before.contains(fault)), "an edit added {now:?} to {before:?}");
    }
    assert_eq!(folded, plan.folded_nodes as usize);
}

/// Panics where the report request of a plan holds a wire fault (docs/rewind.md 2.2).
///
/// # Panics
/// When it does.
pub fn assert_sendable(whole: &Surface, request: &RequestPlan) {
    let nodes = whole.nodes();
    let sent: Vec<&Node> = match request {
        RequestPlan::Routed { cut, .. } => nodes[..*cut].iter().collect(),
        RequestPlan::Messages { seqs, .. } => {
            seqs.iter().filter_map(|seq| nodes.iter().find(|node| node.seq == *seq)).collect()
        }
        RequestPlan::Transcript { .. } => Vec::new(),
    };
    let found = faults(whole, sent.into_iter(), Tail::Request);
    assert!(found.is_empty(), "{request:?} sends {found:?}");
}
