//! A log with its surface, event by event, and what the host would read from it as columns.

use tool_rewind::plan::Edit;
use tool_rewind::region::Target;
use tool_rewind::surface::{ABSENT, Columns, EMPTY, MEMORY, PERSON, Surface};

/// Tool names share the numbers of call ids, above all of those.
pub(crate) const READ: u32 = 1000;
pub(crate) const CHECKPOINT: u32 = 1001;
pub(crate) const REWIND: u32 = 1002;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Person,
    Memory,
    Plugin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// An event beside the surface.
    LogOnly,
    User(Who),
    /// Calls in model order: call id, tool name.
    Assistant(Vec<(u32, u32)>),
    /// The answer to a call id.
    Result(u32),
}

#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) body: Body,
    pub(crate) chars: u32,
    /// The message has no content.
    pub(crate) empty: bool,
    /// The event derives no message.
    pub(crate) absent: bool,
    /// What it replaced and cites, in surface order.
    pub(crate) shadowed: Option<Vec<u32>>,
}

impl Event {
    pub(crate) fn new(body: Body, chars: u32) -> Self {
        Self { body, chars, empty: false, absent: false, shadowed: None }
    }

    pub(crate) fn protected(&self) -> bool {
        matches!(self.body, Body::User(Who::Person | Who::Memory))
    }
}

/// The mark a fold starts from, as the checkpoint provider hands it out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) length: u32,
    pub(crate) call: Option<u32>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    pub(crate) events: Vec<Event>,
    pub(crate) nodes: Vec<u32>,
}

impl Log {
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.events.len()).unwrap()
    }

    pub(crate) fn at(&self, seq: u32) -> &Event {
        &self.events[seq as usize]
    }

    pub(crate) fn append(&mut self, event: Event) -> u32 {
        let seq = self.len();
        if event.body != Body::LogOnly {
            self.nodes.push(seq);
        }
        self.events.push(event);
        seq
    }

    /// Puts one event in the place of an unbroken run.
    pub(crate) fn replace(&mut self, run: &[u32], body: Body, chars: u32) -> u32 {
        let at = self.nodes.iter().position(|seq| *seq == run[0]).unwrap();
        assert_eq!(&self.nodes[at..at + run.len()], run, "a replacement takes one unbroken run");
        let seq = self.len();
        self.nodes.splice(at..at + run.len(), [seq]);
        self.events.push(Event { shadowed: Some(run.to_vec()), ..Event::new(body, chars) });
        seq
    }

    /// Shortens a result in place, as a pruner does.
    pub(crate) fn rewrite(&mut self, seq: u32) -> u32 {
        let body = self.at(seq).body.clone();
        self.replace(&[seq], body, 7)
    }

    /// Lands one edit of a plan.
    pub(crate) fn land(&mut self, edit: &Edit<'_>) -> u32 {
        match edit {
            Edit::Report { seqs } | Edit::Pointer { seqs } => self.replace(seqs, Body::User(Who::Plugin), 9),
            Edit::ReportInPlace { seq } | Edit::Sibling { seq } => self.rewrite(*seq),
        }
    }

    pub(crate) fn land_all(&mut self, edits: &[Edit<'_>]) {
        for edit in edits {
            self.land(edit);
        }
    }

    fn least_origin(&self, seq: u32) -> u32 {
        match &self.at(seq).shadowed {
            None => seq,
            Some(cited) => cited.iter().map(|&seq| self.least_origin(seq)).min().unwrap(),
        }
    }

    pub(crate) fn read(&self) -> Read {
        let mut read = Read { nodes: self.nodes.clone(), ..Read::default() };
        for seq in 0..self.len() {
            let event = self.at(seq);
            let (kind, calls) = match &event.body {
                Body::LogOnly => (0, vec![]),
                Body::User(Who::Person) => (1 | PERSON, vec![]),
                Body::User(Who::Memory) => (1 | MEMORY, vec![]),
                Body::User(Who::Plugin) => (1, vec![]),
                Body::Assistant(calls) => {
                    (2, calls.iter().map(|&(id, name)| (read.intern(id), read.intern(name))).collect())
                }
                Body::Result(id) => (3, vec![(read.intern(*id), 0)]),
            };
            let flag = |set, flag| if set { flag } else { 0 };
            read.facts.push(kind | flag(event.empty, EMPTY) | flag(event.absent, ABSENT));
            read.chars.push(event.chars);
            read.origins.push(self.least_origin(seq));
            read.calls.push(u32::try_from(read.pool.len()).unwrap());
            read.pool.push(u32::try_from(calls.len()).unwrap());
            read.pool.extend(calls.iter().flat_map(|&(id, name)| [id, name]));
        }
        read
    }

    /// The last assistant message that was appended below a length.
    pub(crate) fn last_assistant(&self, length: u32) -> Option<u32> {
        let said =
            |seq: &u32| matches!(self.at(*seq).body, Body::Assistant(_)) && self.at(*seq).shadowed.is_none();
        (0..length).rev().find(said)
    }

    pub(crate) fn surface(&self) -> Surface {
        Surface::parse(&self.read().columns()).unwrap()
    }

    pub(crate) fn target(&self, mark: Mark, open_turn: bool) -> Target {
        let read = self.read();
        Target {
            mark: "1".to_owned(),
            log_length: mark.length,
            last_assistant: self.last_assistant(mark.length),
            call: mark.call.map(|id| read.number(id).unwrap_or(u32::MAX)),
            checkpoint_name: read.number(CHECKPOINT),
            open_turn,
        }
    }
}

/// Owned columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Read {
    pub(crate) nodes: Vec<u32>,
    pub(crate) facts: Vec<u8>,
    pub(crate) chars: Vec<u32>,
    pub(crate) origins: Vec<u32>,
    pub(crate) calls: Vec<u32>,
    pub(crate) pool: Vec<u32>,
    pub(crate) interned: Vec<u32>,
}

impl Read {
    fn number(&self, text: u32) -> Option<u32> {
        let at = self.interned.iter().position(|known| *known == text)?;
        Some(u32::try_from(at).unwrap() + 1)
    }

    fn intern(&mut self, text: u32) -> u32 {
        self.number(text).unwrap_or_else(|| {
            self.interned.push(text);
            u32::try_from(self.interned.len()).unwrap()
        })
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
}
