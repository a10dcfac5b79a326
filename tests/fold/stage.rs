//! A small log with its surface, built event by event, and read as the columns that cross the border.

use tool_rewind::error::Refusal;
use tool_rewind::plan::Plan;
use tool_rewind::region::Target;
use tool_rewind::surface::{Columns, EMPTY, MEMORY, PERSON, Surface};

const USER: u8 = 1;
const ASSISTANT: u8 = 2;
const RESULT: u8 = 3;

/// The log so far. Seqs count up from 0, log-only events included.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage {
    pub(crate) nodes: Vec<u32>,
    pub(crate) facts: Vec<u8>,
    pub(crate) chars: Vec<u32>,
    pub(crate) origins: Vec<u32>,
    pub(crate) calls: Vec<u32>,
    pub(crate) pool: Vec<u32>,
    names: Vec<String>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The log's length, which is what a mark taken now carries.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.facts.len()).unwrap()
    }

    /// The number that stands for a call id or a tool name.
    pub(crate) fn id(&mut self, text: &str) -> u32 {
        let known = self.names.iter().position(|name| name == text);
        let at = known.unwrap_or_else(|| {
            self.names.push(text.to_owned());
            self.names.len() - 1
        });
        u32::try_from(at).unwrap() + 1
    }

    fn event(&mut self, fact: u8, chars: u32, calls: &[(u32, u32)]) -> u32 {
        let seq = self.len();
        self.facts.push(fact);
        self.chars.push(chars);
        self.origins.push(seq);
        self.calls.push(u32::try_from(self.pool.len()).unwrap());
        self.pool.push(u32::try_from(calls.len()).unwrap());
        self.pool.extend(calls.iter().flat_map(|&(id, name)| [id, name]));
        seq
    }

    fn append(&mut self, fact: u8, chars: u32, calls: &[(u32, u32)]) -> u32 {
        let seq = self.event(fact, chars, calls);
        self.nodes.push(seq);
        seq
    }

    /// Log-only events, as `tool/call` and `step/start` are.
    pub(crate) fn log(&mut self, count: usize) {
        for _ in 0..count {
            self.event(0, 0, &[]);
        }
    }

    /// A person's prompt or steering message.
    pub(crate) fn person(&mut self, chars: u32) -> u32 {
        self.append(USER | PERSON, chars, &[])
    }

    /// A plugin's message.
    pub(crate) fn plugin(&mut self, chars: u32) -> u32 {
        self.append(USER, chars, &[])
    }

    /// A message of a plugin without any content.
    pub(crate) fn empty(&mut self) -> u32 {
        self.append(USER | EMPTY, 0, &[])
    }

    /// A checkpoint of `turn-memory`.
    pub(crate) fn memory(&mut self, chars: u32) -> u32 {
        self.append(USER | MEMORY, chars, &[])
    }

    /// An assistant message with calls, each a call id and a tool name.
    pub(crate) fn says(&mut self, chars: u32, calls: &[(&str, &str)]) -> u32 {
        let calls: Vec<_> = calls.iter().map(|(id, name)| (self.id(id), self.id(name))).collect();
        self.append(ASSISTANT, chars, &calls)
    }

    /// A result for a call id.
    pub(crate) fn answer(&mut self, id: &str, chars: u32) -> u32 {
        let call = (self.id(id), 0);
        self.append(RESULT, chars, &[call])
    }

    /// One call of a tool with its result; returns both seqs.
    pub(crate) fn step(&mut self, id: &str) -> [u32; 2] {
        [self.says(20, &[(id, "read")]), self.answer(id, 500)]
    }

    /// The checkpoint call in a message of its own, its mark and its result: the mark's log length.
    pub(crate) fn mark(&mut self) -> u32 {
        self.says(10, &[("cp", "checkpoint")]);
        self.log(1);
        let length = self.len();
        self.answer("cp", 30);
        length
    }

    /// The message with the rewind call, which is in flight.
    pub(crate) fn rewind(&mut self) -> u32 {
        let seq = self.says(5, &[("rw", "rewind")]);
        self.log(1);
        seq
    }

    fn take(&mut self, start: u32, end: u32, with: u32) {
        let at = |seq| self.nodes.iter().position(|&node| node == seq).unwrap();
        let (from, to) = (at(start), at(end));
        let shadowed: Vec<u32> = self.nodes.splice(from..=to, [with]).collect();
        let least = shadowed.iter().map(|&seq| self.origins[seq as usize]).min();
        self.origins[with as usize] = least.unwrap();
    }

    /// A message of a plugin in the place of a run of nodes, as a compaction leaves it.
    pub(crate) fn compact(&mut self, start: u32, end: u32, chars: u32) -> u32 {
        let seq = self.event(USER, chars, &[]);
        self.take(start, end, seq);
        seq
    }

    /// A result's content rewritten in place, as a pruner does.
    pub(crate) fn rewrite(&mut self, seq: u32, chars: u32) -> u32 {
        let call = self.pool[self.calls[seq as usize] as usize + 1];
        let next = self.event(RESULT, chars, &[(call, 0)]);
        self.take(seq, seq, next);
        next
    }

    pub(crate) fn columns(&self) -> Columns<'_> {
        Columns {
            nodes: &self.nodes,
            facts: &self.facts,
            chars: &self.chars,
            origins: &self.origins,
            calls: &self.calls,
            pool: &self.pool,
        }
    }

    pub(crate) fn surface(&self) -> Surface {
        Surface::parse(&self.columns()).unwrap()
    }

    /// A mark without a call id, asked for inside an open turn.
    pub(crate) fn target(&mut self, log_length: u32) -> Target {
        let checkpoint_name = Some(self.id("checkpoint"));
        let appended = |seq: &u32| self.origins[*seq as usize] == *seq;
        let said = |seq: &u32| self.facts[*seq as usize] & 3 == ASSISTANT && appended(seq);
        let last_assistant = (0..log_length.min(self.len())).rev().find(said);
        let mark = "1".to_owned();
        Target { mark, log_length, last_assistant, call: None, checkpoint_name, open_turn: true }
    }

    pub(crate) fn plan(&mut self, log_length: u32) -> Result<Plan, Refusal> {
        let target = self.target(log_length);
        Plan::new(&self.surface(), &target)
    }

    /// The runs that a fold takes, in surface order.
    pub(crate) fn segments(&mut self, log_length: u32) -> Vec<Vec<u32>> {
        self.plan(log_length).unwrap().segments().into_iter().map(<[u32]>::to_vec).collect()
    }
}
