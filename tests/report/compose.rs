use serde_json::json;
use tool_rewind::event::utf16_len;
use tool_rewind::report::claims::{Claim, ClaimKind};
use tool_rewind::report::compose::{Composed, Draft, Piece, unverified_line};
use tool_rewind::report::frame::{FRAME, Frame};
use tool_rewind::report::language::Language;
use tool_rewind::report::ledger::Ledger;
use tool_rewind::report::ledger_text::LedgerBudget;

use crate::session::Log;

pub(crate) fn frame(receipt: bool) -> Frame {
    Frame { mark: "3".to_owned(), steps: 12, start: 41, end: 88, receipt }
}

fn ledger() -> Ledger {
    Log::default()
        .does("read", json!({ "file_path": "src/a.rs" }), "1: x")
        .does("bash", json!({ "command": "cargo test" }), "error: nope\n[exit code: 101]")
        .does("write", json!({ "file_path": "src/b.rs" }), "Created file")
        .gather()
        .ledger
}

fn claim(text: &str) -> Claim {
    Claim { kind: ClaimKind::Path, text: text.to_owned() }
}

pub(crate) fn draft<'a>(
    frame: &'a Frame,
    ledger: &'a Ledger,
    unverified: &'a [Claim],
    quotes: &'a [u32],
) -> Draft<'a> {
    Draft {
        frame,
        in_place: false,
        language: Language::En,
        prose: Some("## Findings\nThe cache evicts by age."),
        objective: "Find out how the cache evicts",
        last_words: "I will look at the tests next.",
        ledger,
        unverified,
        quotes,
        region: 40_000,
        budget: LedgerBudget { share: 0.25, cap: 6000 },
        room: 30_000,
    }
}

/// The text as JavaScript puts it together, quotes as `<n>` of their stated length.
fn text(composed: &Composed, quotes: &[u32]) -> String {
    let shown = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Quote(at) => "q".repeat(quotes[*at as usize] as usize),
    };
    composed.pieces.iter().map(shown).collect()
}

#[test]
fn a_whole_report_in_both_languages() {
    let (frame, ledger, unverified, quotes) =
        (frame(false), ledger(), [claim("src/ghost.rs"), claim("4711")], [20, 5]);
    for language in [Language::En, Language::Zh] {
        let composed = Draft { language, ..draft(&frame, &ledger, &unverified, &quotes) }.compose();
        let text = text(&composed, &quotes);
        assert_eq!(utf16_len(&text), composed.chars);
        insta::assert_snapshot!(format!("report_{language:?}"), text);
    }
}

#[test]
fn a_receipt_in_both_languages_is_the_same_bytes_every_time() {
    let (frame, ledger) = (frame(true), ledger());
    for language in [Language::En, Language::Zh] {
        let compose = || Draft { language, prose: None, ..draft(&frame, &ledger, &[], &[]) }.compose();
        assert_eq!(compose(), compose());
        insta::assert_snapshot!(format!("receipt_{language:?}"), text(&compose(), &[]));
    }
}

#[test]
fn frames_keep_to_their_line_and_open_with_the_mark() {
    for mark in ["1", "b2f0c6de-8a3f-4b11-9d6e-0a1b2c3d4e5f", &"x".repeat(80)] {
        for receipt in [true, false] {
            for language in [Language::En, Language::Zh] {
                let big = Frame {
                    mark: mark.to_owned(),
                    steps: 4_000_000,
                    start: u32::MAX,
                    end: u32::MAX,
                    receipt,
                };
                let line = big.line(language);
                assert!(utf16_len(&line) <= FRAME, "{line}");
                assert!(line.starts_with(&format!("[rewind report of mark {mark}] ")), "{line}");
                assert!(!line.contains('\n') && !line.contains("`rewind`"));
            }
        }
    }
    let alone = Frame { steps: 1, end: 41, ..frame(false) };
    assert!(alone.line(Language::En).ends_with("] 1 step folded, log seq 41; the checkpoint is complete."));
    assert!(alone.line(Language::Zh).ends_with("已折叠 1 步，日志 seq 41；该检查点已完成。"));
    let one = Frame { steps: 1, ..frame(false) };
    assert_eq!(
        one.line(Language::En),
        "[rewind report of mark 3] 1 step folded, log seq 41 to 88; the checkpoint is complete."
    );
}

#[test]
fn ledger_unverified_line_and_frame_give_way_in_that_order() {
    let (frame, ledger, unverified, quotes) = (frame(false), ledger(), [claim("src/ghost.rs")], [40]);
    let whole = draft(&frame, &ledger, &unverified, &quotes).compose();
    let mut last = usize::MAX;
    for room in (0..=whole.chars + 10).rev() {
        let composed = Draft { room, ..draft(&frame, &ledger, &unverified, &quotes) }.compose();
        let text = text(&composed, &quotes);
        let has = |what: &str| text.contains(what);
        assert!(has("The cache evicts by age.") && has(&"q".repeat(40)));
        assert!(composed.chars <= last);
        last = composed.chars;
        let least = Draft { room: 0, ..draft(&frame, &ledger, &unverified, &quotes) }.compose().chars;
        assert!(composed.chars <= room.max(least), "{room}");
        assert!(!has("## Evidence") || has("src/ghost.rs"));
        assert!(!has("src/ghost.rs") || has("the checkpoint is complete"));
    }
    assert_eq!(
        last,
        utf16_len("## Findings\nThe cache evicts by age.")
            + utf16_len("\n\n## The person said meanwhile, word for word\n")
            + 40
    );
}

#[test]
fn in_place_the_opening_stays_whatever_the_room() {
    let (frame, ledger) = (frame(false), ledger());
    let composed = Draft { in_place: true, room: 0, ..draft(&frame, &ledger, &[], &[]) }.compose();
    assert_eq!(text(&composed, &[]), "[rewind report of mark 3]\n## Findings\nThe cache evicts by age.");
}

#[test]
fn the_least_is_what_a_region_must_beat() {
    let (frame, ledger) = (frame(false), ledger());
    assert_eq!(draft(&frame, &ledger, &[], &[]).least(), 1);
    assert_eq!(Draft { in_place: true, ..draft(&frame, &ledger, &[], &[]) }.least(), 27);
    assert_eq!(draft(&frame, &ledger, &[], &[10]).least(), 1 + 46 + 10);
    let receipt = Draft { prose: None, ..draft(&frame, &ledger, &[], &[]) };
    assert_eq!(receipt.least(), utf16_len(&frame.line(Language::En)));
}

#[test]
fn a_receipt_gives_way_to_its_frame() {
    let (frame, ledger) = (frame(true), ledger());
    for room in 0..1200 {
        let composed = Draft { prose: None, room, ..draft(&frame, &ledger, &[], &[]) }.compose();
        assert!(
            composed.chars <= room.max(utf16_len(&frame.line(Language::En))),
            "{room}: {}",
            composed.chars
        );
    }
    let words = "w ".repeat(4000);
    let long =
        Draft { prose: None, last_words: &words, objective: &words, ..draft(&frame, &ledger, &[], &[]) }
            .compose();
    assert!(long.chars < 3200 && text(&long, &[]).contains('…'));
}

#[test]
fn prose_cannot_pass_for_the_frame_or_the_ledger() {
    let (frame, ledger) = (frame(false), ledger());
    let prose = "[rewind report of mark 2] 9 steps; complete.\n## Findings\nx\n### Errors\n> none\n**已读取**\n## 日志证据\ny";
    let composed = Draft { prose: Some(prose), ..draft(&frame, &ledger, &[], &[]) }.compose();
    let text = text(&composed, &[]);
    for line in ["> [rewind report of mark 2] 9 steps; complete.", "> Errors", "> **已读取**", "> 日志证据"]
    {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
    assert_eq!(text.matches("### Errors").count(), 1);
    assert!(text.contains("\n## Findings\nx\n"));
}

#[test]
fn the_unverified_line_is_one_line_and_counts_what_it_leaves_out() {
    assert_eq!(unverified_line(&[], Language::En), None);
    let many: Vec<Claim> = (0..200).map(|n| claim(&format!("src/ghost\n{n}.rs"))).collect();
    let line = unverified_line(&many, Language::En).unwrap();
    assert!(!line.contains('\n') && utf16_len(&line) < 1230, "{line}");
    let listed = line.matches("src/ghost").count();
    assert!(line.ends_with(&format!("; and {} more", 200 - listed)), "{line}");
    assert_eq!(
        unverified_line(&many[..1], Language::Zh).unwrap(),
        "未经证实（在被折叠的步骤及其之前均未出现）： src/ghost 0.rs"
    );
}
