//! A report made by code alone: the objective and the model's last words, quoted; the ledger says the rest.
//! The same region always gives the same bytes.

use super::language::{Language, Section};
use super::text::{clip, quoted};
use crate::event::utf16_len;

/// Longest objective, UTF-16 code units.
const OBJECTIVE: usize = 600;
/// Longest last words, UTF-16 code units.
const WORDS: usize = 1500;

/// Writes the part of the receipt that stands where the model's prose would, within `room` UTF-16 code units.
/// The last words give way before the objective does; a part that would not be worth reading is left out.
#[must_use]
pub fn receipt(objective: &str, last_words: &str, language: Language, room: usize) -> String {
    let mut text = String::new();
    section(&mut text, Section::Objective, objective, language, OBJECTIVE, room);
    section(&mut text, Section::LastWords, last_words, language, WORDS, room);
    text
}

fn section(text: &mut String, section: Section, words: &str, language: Language, limit: usize, room: usize) {
    /// A shorter rest of a quotation says nothing.
    const WORTH: usize = 20;
    let words = words.trim();
    let heading = section.heading(language);
    let lines = words.lines().count();
    let fixed = utf16_len(text) + utf16_len(&heading) + 2 + lines * 2 + 1;
    let free = room.saturating_sub(fixed);
    if words.is_empty() || free < WORTH.min(utf16_len(words)) {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&heading);
    text.push('\n');
    text.push_str(&quoted(&clip(words, limit.min(free))));
}
