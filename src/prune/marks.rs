//! How this plugin's own text is known again: by who wrote the event first, by its words second
//! (docs/prune.md 3.6). A person or a file can hold the same words.

use super::slice::{MARKER_SIGN, STOCK_MARKER};

/// First words of every English receipt.
pub const HEADER_EN: &str = "[compacted · deterministic receipt]";
/// First words of every Chinese receipt.
pub const HEADER_ZH: &str = "[已压缩 · 确定性回执]";

/// What an earlier rewrite left in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The body as the tool gave it.
    None,
    /// Cut by this plugin or by the stock pruner.
    Cut,
    /// A partial receipt of this plugin.
    Receipt,
    /// Rewritten by somebody else, for instance a fold's report or pointer: never touched here.
    Foreign,
}

/// The mark of a body; `replaced` says that it stands in the place of an earlier one. Only the stock marker
/// counts in a body that was appended, because the stock pruner would not cut it again either.
#[must_use]
pub fn of_body(body: &[Option<String>], replaced: bool) -> Mark {
    let texts = || body.iter().flatten();
    if replaced
        && texts().next().is_some_and(|text| text.starts_with(HEADER_EN) || text.starts_with(HEADER_ZH))
    {
        Mark::Receipt
    } else if replaced && texts().any(|text| text.contains(MARKER_SIGN))
        || texts().any(|text| text.contains(STOCK_MARKER))
    {
        Mark::Cut
    } else if replaced {
        Mark::Foreign
    } else {
        Mark::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::slice::marker;

    fn of(text: &str, replaced: bool) -> Mark {
        of_body(&[None, Some(text.to_owned())], replaced)
    }

    #[test]
    fn words_alone_prove_nothing() {
        let cut = format!("head{}tail", marker(5, 7));
        assert_eq!((of(&cut, true), of(&cut, false)), (Mark::Cut, Mark::None));
        for header in [HEADER_EN, HEADER_ZH] {
            let receipt = format!("{header} s7 read: a → 5 chars");
            assert_eq!((of(&receipt, true), of(&receipt, false)), (Mark::Receipt, Mark::None));
        }
        let stock = format!("head\n\n{STOCK_MARKER}\n\ntail");
        assert_eq!((of(&stock, true), of(&stock, false)), (Mark::Cut, Mark::Cut));
        assert_eq!(of("[rewind report of mark 1] …", true), Mark::Foreign);
        assert_eq!(of("", false), Mark::None);
    }
}
