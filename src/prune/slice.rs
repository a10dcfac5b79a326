//! The cut of one result body: head, marker, tail (docs/prune.md 3.5).
//!
//! The text itself stays in JavaScript, because it must come back byte for byte: what leaves here are
//! UTF-16 offsets. A lone surrogate that the border turned into U+FFFD is one code point and one unit in
//! both forms, so counts and offsets hold for ill-formed text too.

use super::text::count_points;

/// What is left of one text block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Index of the block in the body.
    pub block: usize,
    /// UTF-16 units kept from the start.
    pub head_end: usize,
    /// Whether the marker stands between head and tail of this block.
    pub marker: bool,
    /// UTF-16 offset from which the rest is kept.
    pub tail_start: usize,
}

/// A body that can shrink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Every text block that the cut touches, in order; a block that is left out keeps its text.
    pub blocks: Vec<Kept>,
    /// The marker, once in the whole body.
    pub marker: String,
    /// Code points of the body's text before the cut.
    pub chars_before: usize,
    /// Code points after it, marker included.
    pub chars_after: usize,
}

/// Lengths of a cut, in code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// Kept from the start of the body's text.
    pub head: usize,
    /// Kept from its end.
    pub tail: usize,
    /// The least the body must shrink by.
    pub min_gain: usize,
}

/// The marker that takes the place of `removed` code points of the result at `seq`.
#[must_use]
pub fn marker(removed: usize, seq: u32) -> String {
    format!("\n\n[… {removed} characters cut by prune; whole text at s{seq} …]\n\n")
}

/// The part of [`marker`] that is the same in every cut.
pub const MARKER_SIGN: &str = "characters cut by prune; whole text at s";

/// The stock pruner's marker. A body that holds it is not cut again, whoever wrote it.
pub const STOCK_MARKER: &str = "[... tool result middle pruned ...]";

/// Code points of the marker without its number: what a plan subtracts before the number is known.
#[must_use]
pub fn marker_len(seq: u32) -> usize {
    count_points(&marker(0, seq)).saturating_sub(1)
}

/// Cuts `blocks` (`None`: a block that is no text; it keeps its place) at `seq`. `None` unless the text
/// shrinks by at least `max(1, min_gain)` code points.
#[must_use]
pub fn slice_blocks(blocks: &[Option<&str>], lengths: Lengths, seq: u32) -> Option<Cut> {
    let total: usize = blocks.iter().flatten().map(|text| count_points(text)).sum();
    let removed = total.checked_sub(lengths.head)?.checked_sub(lengths.tail)?;
    slice_with(blocks, lengths, marker(removed, seq), total, removed)
}

fn slice_with(
    blocks: &[Option<&str>],
    lengths: Lengths,
    marker: String,
    total: usize,
    removed: usize,
) -> Option<Cut> {
    let chars_after = total - removed + count_points(&marker);
    if chars_after.saturating_add(lengths.min_gain.max(1)) > total {
        return None;
    }
    let removed_end = lengths.head + removed;
    let mut kept = Vec::new();
    let mut start = 0;
    for (block, text) in blocks.iter().enumerate().filter_map(|(at, text)| text.map(|text| (at, text))) {
        let points = count_points(text);
        let end = start + points;
        if start < removed_end && end > lengths.head {
            kept.push(Kept {
                block,
                head_end: utf16_offset(text, lengths.head.saturating_sub(start).min(points)),
                marker: kept.is_empty(),
                tail_start: utf16_offset(text, removed_end.saturating_sub(start).min(points)),
            });
        }
        start = end;
    }
    Some(Cut { blocks: kept, marker, chars_before: total, chars_after })
}

/// UTF-16 units before code point `point` of `text`.
fn utf16_offset(text: &str, point: usize) -> usize {
    text.chars().take(point).map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What JavaScript makes of a cut.
    fn applied(blocks: &[Option<&str>], cut: &Cut) -> Vec<Option<String>> {
        let mut out: Vec<Option<String>> = blocks.iter().map(|text| text.map(str::to_owned)).collect();
        for kept in &cut.blocks {
            let units: Vec<u16> = blocks[kept.block].unwrap().encode_utf16().collect();
            let head = String::from_utf16(&units[..kept.head_end]).unwrap();
            let tail = String::from_utf16(&units[kept.tail_start..]).unwrap();
            let marker = if kept.marker { cut.marker.as_str() } else { "" };
            out[kept.block] = Some(format!("{head}{marker}{tail}"));
        }
        out
    }

    fn short(blocks: &[Option<&str>], head: usize, tail: usize, min_gain: usize) -> Option<Cut> {
        let total: usize = blocks.iter().flatten().map(|text| count_points(text)).sum();
        let removed = total.checked_sub(head)?.checked_sub(tail)?;
        slice_with(blocks, Lengths { head, tail, min_gain }, "M".to_owned(), total, removed)
    }

    fn texts(found: Vec<Option<String>>) -> Vec<String> {
        found.into_iter().map(|text| text.unwrap_or_else(|| "<img>".to_owned())).collect()
    }

    #[test]
    fn input_22_code_points_are_never_split() {
        let body = [Some("😀😁😂abcdef")];
        assert_eq!(texts(applied(&body, &short(&body, 3, 2, 1).unwrap())), ["😀😁😂Mef"]);
        assert_eq!(short(&body, 3, 2, 40), None);
    }

    #[test]
    fn input_22_an_image_between_texts_keeps_its_place() {
        let body = [Some("aaaaaaaa"), None, Some("bbbbbbbb")];
        assert_eq!(texts(applied(&body, &short(&body, 2, 2, 1).unwrap())), ["aaM", "<img>", "bb"]);
    }

    #[test]
    fn input_22_one_marker_over_three_texts() {
        let body = [Some("aaaa"), Some("bbbb"), Some("cccc")];
        assert_eq!(texts(applied(&body, &short(&body, 2, 2, 1).unwrap())), ["aaM", "", "cc"]);
        assert_eq!(texts(applied(&body, &short(&body, 4, 2, 1).unwrap())), ["aaaa", "M", "cc"]);
        assert_eq!(texts(applied(&body, &short(&body, 0, 0, 1).unwrap())), ["M", "", ""]);
    }

    #[test]
    fn the_marker_names_what_is_gone_and_where_it_stands() {
        let long = "x".repeat(2000);
        let cut = slice_blocks(&[Some(&long)], Lengths { head: 600, tail: 200, min_gain: 40 }, 27).unwrap();
        assert_eq!(cut.marker, "\n\n[… 1200 characters cut by prune; whole text at s27 …]\n\n");
        assert!(cut.marker.contains(MARKER_SIGN));
        assert_eq!(cut.chars_after, 800 + count_points(&cut.marker));
        assert_eq!(marker_len(27), count_points(&cut.marker) - 4);
    }

    #[test]
    fn nothing_under_head_and_tail_shrinks() {
        let at = |size: usize| {
            slice_blocks(&[Some(&"x".repeat(size))], Lengths { head: 600, tail: 200, min_gain: 0 }, 7)
        };
        assert_eq!(at(0), None);
        assert_eq!(at(799), None);
        assert_eq!(at(800), None);
        // 800 kept and a marker of 54: the smallest body that shrinks by one has 855.
        assert_eq!(at(854), None);
        assert_eq!(at(855).map(|cut| cut.chars_after), Some(854));
    }

    proptest! {
        #[test]
        fn a_cut_is_shorter_whole_and_keeps_both_ends(
            body in prop::collection::vec(prop::option::of("[a-c😀错\\n]{0,120}"), 0..6),
            head in 0usize..80, tail in 0usize..80, min_gain in 0usize..60,
        ) {
            let blocks: Vec<Option<&str>> = body.iter().map(|text| text.as_deref()).collect();
            let all: String = blocks.iter().flatten().copied().collect();
            if let Some(cut) = slice_blocks(&blocks, Lengths { head, tail, min_gain }, 9) {
                let after = applied(&blocks, &cut);
                prop_assert_eq!(after.len(), blocks.len());
                prop_assert!(after.iter().zip(&blocks).all(|(a, b)| a.is_none() == b.is_none()));
                let joined: String = after.into_iter().flatten().collect();
                prop_assert_eq!(count_points(&joined), cut.chars_after);
                prop_assert!(cut.chars_after + min_gain.max(1) <= cut.chars_before);
                let (start, end) = joined.split_once(&cut.marker).unwrap();
                prop_assert_eq!((count_points(start), count_points(end)), (head, tail));
                prop_assert!(all.starts_with(start) && all.ends_with(end));
            }
        }
    }
}
