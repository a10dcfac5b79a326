//! Laws of the drafts, under arbitrary text.

use super::{Columns, Draft, Kind, units};
use crate::turns::answer;
use crate::turns::draft::Segment;
use crate::turns::script::Row;
use crate::turns::tag::parse_segments;
use crate::turns::transcript::{Limits, render_transcript};
use crate::turns::units::points;
use proptest::prelude::*;

/// Text that is likely to hurt: tag look-alikes, line ends, surrogates whole and lone.
fn text() -> impl Strategy<Value = Vec<u16>> {
    let piece = prop_oneof![
        any::<u16>().prop_map(|unit| vec![unit]),
        "[ -~\\n\\r]{0,12}".prop_map(|text| units(&text)),
        (1_u32..9, any::<bool>(), 0_usize..3).prop_map(|(id, close, kind)| {
            let name = [Kind::UserSteer, Kind::Assistant, Kind::Working][kind].name();
            units(&format!("\n<{}{name}:{id}>\n", if close { "/" } else { "" }))
        }),
        Just(units("🔬文\r\n")),
        (0_usize..400).prop_map(|length| units(&"p".repeat(length))),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

#[derive(Debug, Clone)]
enum Said {
    Person(Vec<u16>),
    Assistant(Vec<u16>),
    Call(Vec<u16>, Vec<u16>),
    Injected(Vec<u16>),
}

fn turn() -> impl Strategy<Value = Vec<Said>> {
    let said = prop_oneof![
        text().prop_map(Said::Person),
        text().prop_map(Said::Assistant),
        (text(), text()).prop_map(|(arguments, output)| Said::Call(arguments, output)),
        text().prop_map(Said::Injected),
    ];
    proptest::collection::vec(said, 0..9)
}

fn columns(turn: &[Said]) -> Columns {
    turn.iter().fold(Columns::default(), |columns, said| match said {
        Said::Person(text) => columns.row(Row::Person, &[]).row(Row::Text, text),
        Said::Assistant(text) => columns.assistant().row(Row::Text, text),
        Said::Injected(text) => columns.row(Row::Injected, &units("p")).row(Row::Text, text),
        Said::Call(arguments, output) => columns
            .assistant()
            .row(Row::Call, &units("bash"))
            .row(Row::CallId, &units("c"))
            .row(Row::Arguments, arguments)
            .row(Row::Result, &units("c"))
            .row(Row::Text, output),
    })
}

fn drafted(turn: &[Said], max_working: usize) -> Draft {
    Draft::new(columns(turn).script(), 500, max_working)
}

/// What persons and the assistant said, in order; empty text says nothing.
fn words(turn: &[Said]) -> Vec<(Kind, Vec<u16>)> {
    turn.iter()
        .filter_map(|said| match said {
            Said::Person(text) if !text.is_empty() => Some((Kind::UserSteer, text.clone())),
            Said::Assistant(text) if !text.is_empty() => Some((Kind::Assistant, text.clone())),
            _ => None,
        })
        .collect()
}

proptest! {
    #[test]
    fn words_are_preserved_unit_for_unit_in_the_landed_text(turn in turn()) {
        let mut draft = drafted(&turn, 2000);
        for id in draft.unfinished() {
            draft.replace(id, &units("what happened, shortly")).unwrap();
        }
        prop_assert_eq!(draft.check(), Ok(()));
        let landed = draft.checkpoint(4);
        let read: Vec<(Kind, Vec<u16>)> = parse_segments(&landed)
            .into_iter()
            .filter(|segment| segment.kind != Kind::Working)
            .map(|segment| (segment.kind, landed[segment.content].to_vec()))
            .collect();
        prop_assert_eq!(read, words(&turn));
    }

    #[test]
    fn a_checkpoint_reads_back_as_its_segments(turn in turn()) {
        let draft = drafted(&turn, 2000);
        let text = draft.checkpoint(1);
        let read: Vec<(u64, Kind, Vec<u16>)> = parse_segments(&text)
            .into_iter()
            .map(|segment| (segment.id, segment.kind, text[segment.content].to_vec()))
            .collect();
        let held: Vec<(u64, Kind, Vec<u16>)> = draft
            .seed()
            .iter()
            .map(|segment| (u64::from(segment.id), segment.kind, segment.content.clone()))
            .collect();
        prop_assert_eq!(read, held);
    }

    #[test]
    fn a_landed_checkpoint_splices_into_a_new_draft_byte_for_byte(turn in turn()) {
        let before = drafted(&turn, 2000);
        let text = before.checkpoint(1);
        let columns = Columns::default().row(Row::Fragment, &[]).row(Row::Text, &text);
        let again = Draft::new(columns.script(), 500, 2000).seed();
        prop_assume!(!before.seed().is_empty());
        let pairs = |segments: &[Segment]| -> Vec<(Kind, Vec<u16>)> {
            segments.iter().map(|segment| (segment.kind, segment.content.clone())).collect()
        };
        prop_assert_eq!(pairs(&again), pairs(&before.seed()));
        prop_assert!(again.iter().all(|segment| segment.preserved));
    }

    #[test]
    fn ids_are_consecutive_and_working_never_follows_working(turn in turn()) {
        for pair in drafted(&turn, 2000).seed().windows(2) {
            prop_assert_eq!(pair[0].id + 1, pair[1].id);
            prop_assert!(pair[0].kind != Kind::Working || pair[1].kind != Kind::Working);
        }
    }

    #[test]
    fn a_check_after_replacing_names_only_working_segments(
        turn in turn(), edits in proptest::collection::vec((0_u32..14, text()), 0..6)
    ) {
        let mut draft = drafted(&turn, 100);
        let before = draft.seed();
        for (id, content) in &edits {
            let _ = draft.replace(*id, content);
        }
        prop_assert_eq!(draft.seed(), before);
        if let Err(refusal) = draft.check() {
            prop_assert_eq!(refusal.code(), "WORKING_UNTOUCHED");
        }
    }

    #[test]
    fn an_arbitrary_answer_never_breaks_a_draft(turn in turn(), answer in text()) {
        let mut draft = drafted(&turn, 2000);
        let _ = answer::apply(&mut draft, &answer);
        if let Err(refusal) = draft.check() {
            prop_assert_eq!(refusal.code(), "WORKING_UNTOUCHED");
        }
    }

    #[test]
    fn the_floor_is_never_longer_than_what_lands(turn in turn()) {
        let mut draft = drafted(&turn, 2000);
        let floor = draft.floor(2).len();
        for id in draft.unfinished() {
            draft.replace(id, &units("told")).unwrap();
        }
        prop_assert!(floor <= draft.checkpoint(2).len());
    }

    #[test]
    fn a_transcript_keeps_to_its_cap(turn in turn(), whole in 1_usize..600) {
        let columns = columns(&turn);
        let full = render_transcript(&columns.script(), Limits { result: 100, whole: usize::MAX });
        let cut = render_transcript(&columns.script(), Limits { result: 100, whole });
        if points(&full) <= whole {
            prop_assert_eq!(full, cut);
        } else {
            prop_assert!(points(&cut) <= whole + 200);
        }
    }
}
