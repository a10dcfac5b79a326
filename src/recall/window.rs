//! A window over a text that is written piece by piece: from an offset, so many UTF-16 code units.

use crate::event::utf16_len;

/// Room kept for the line that says where to go on.
const FOOTER: usize = 40;

/// Collects what falls into the window. Every piece belongs to an entry; where the window opens inside one,
/// the entry's head is said again, marked as continued.
#[derive(Debug)]
pub(super) struct Window {
    offset: usize,
    room: usize,
    at: usize,
    out: String,
    used: usize,
    head: String,
    more: bool,
}

impl Window {
    /// A window of `limit` code units in all, its own lines included, from `offset` on.
    pub(super) fn new(offset: usize, limit: usize) -> Self {
        let room = limit.saturating_sub(FOOTER);
        Self { offset, room, at: 0, out: String::new(), used: 0, head: String::new(), more: false }
    }

    /// Whether there is text beyond the window; nothing more needs to be written then.
    pub(super) fn is_full(&self) -> bool {
        self.more
    }

    /// Begins an entry.
    pub(super) fn entry(&mut self, head: String) {
        if self.at > 0 {
            self.write("\n");
        }
        self.head.clear();
        self.write(&head);
        self.write("\n");
        self.head = head;
    }

    /// Writes one line or more of the entry begun last.
    pub(super) fn line(&mut self, text: &str) {
        self.write(text);
        self.write("\n");
    }

    fn write(&mut self, text: &str) {
        if self.more {
            return;
        }
        let length = utf16_len(text);
        let skipped = self.offset.saturating_sub(self.at).min(length);
        self.at += skipped;
        let text = text.get(unit_index(text, skipped)..).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        if self.out.is_empty() && self.offset > 0 && !self.head.is_empty() {
            let head = format!("{}, continued\n", self.head);
            self.used += utf16_len(&head);
            self.out.push_str(&head);
        }
        let end = unit_index(text, self.room.saturating_sub(self.used));
        let taken = text.get(..end).unwrap_or_default();
        let count = utf16_len(taken);
        self.out.push_str(taken);
        self.used += count;
        self.at += count;
        self.more = taken.len() < text.len();
    }

    /// The text of the window with its last line, or the whole length when the window lies behind the end.
    pub(super) fn close(mut self) -> Result<String, usize> {
        if self.out.is_empty() {
            return Err(self.at);
        }
        self.out.truncate(self.out.trim_end_matches('\n').len());
        if self.more {
            self.out.push_str(&format!("\n[more: offset {}]", self.at));
        }
        Ok(self.out)
    }
}

/// The byte index after at most `units` code units, never inside a code point.
pub(super) fn unit_index(text: &str, units: usize) -> usize {
    let mut left = units;
    for (index, char) in text.char_indices() {
        match left.checked_sub(char.len_utf16()) {
            Some(rest) => left = rest,
            None => return index,
        }
    }
    text.len()
}
