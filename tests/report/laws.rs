use proptest::prelude::*;
use tool_rewind::event::utf16_len;
use tool_rewind::report::claims::{Claim, ClaimKind, claims};
use tool_rewind::report::compose::{Draft, Piece};
use tool_rewind::report::language::Language;
use tool_rewind::report::ledger::{Kind, Ledger, Line};
use tool_rewind::report::ledger_text::ledger_text;
use tool_rewind::report::lookup::Lookup;
use tool_rewind::report::outcome::{Outcome, error_lines, of_command};
use tool_rewind::report::shell::{Shell, split};
use tool_rewind::report::text::{clip, head, one_line};
use tool_rewind::report::tools::Tools;

use crate::compose::{draft, frame};

const KINDS: [Kind; 9] = [
    Kind::Read,
    Kind::Written,
    Kind::Command,
    Kind::Search,
    Kind::EmptySearch,
    Kind::Error,
    Kind::Effect,
    Kind::Told,
    Kind::Stopped,
];

fn line() -> impl Strategy<Value = Line> {
    let outcome = prop_oneof![
        Just(Outcome::Ok),
        Just(Outcome::Failed),
        (1..200).prop_map(Outcome::Exit),
        Just(Outcome::Edited)
    ];
    (0..9_usize, "[a-c/]{1,3}", outcome, 0..40_u32)
        .prop_map(|(kind, what, outcome, seq)| Line::new(KINDS[kind], what, outcome, seq))
}

fn ledger() -> impl Strategy<Value = Ledger> {
    // A seq tells one fact of one kind once: the outcome follows from it.
    prop::collection::vec(line(), 0..40).prop_map(|lines| {
        let mut ledger = Ledger::default();
        for line in lines {
            let outcome = if line.last() % 2 == 0 {
                Outcome::Ok
            } else {
                Outcome::Exit(i32::try_from(line.last()).unwrap())
            };
            ledger.add(Line { outcome, ..line });
        }
        ledger
    })
}

fn merged(mut one: Ledger, other: Ledger) -> Ledger {
    one.merge(other);
    one
}

/// The lines of a ledger; which of several last facts of one seq it keeps is left open.
fn facts(ledger: &Ledger) -> Vec<Line> {
    KINDS
        .iter()
        .filter(|kind| **kind != Kind::Stopped)
        .flat_map(|kind| ledger.of(*kind).cloned().collect::<Vec<_>>())
        .collect()
}

proptest! {
    #[test]
    fn merging_is_idempotent_and_order_free(one in ledger(), other in ledger()) {
        prop_assert_eq!(merged(one.clone(), one.clone()), one.clone());
        let sorted = |ledger: Ledger| { let mut all = facts(&ledger); all.sort_by(|a, b| (a.kind, &a.what).cmp(&(b.kind, &b.what))); all };
        prop_assert_eq!(sorted(merged(one.clone(), other.clone())), sorted(merged(other, one)));
    }

    #[test]
    fn a_ledger_never_exceeds_its_room(ledger in ledger(), room in 0..2000_usize, zh: bool) {
        let language = if zh { Language::Zh } else { Language::En };
        let text = ledger_text(&ledger, language, room);
        prop_assert!(utf16_len(&text) <= room);
        let whole = ledger_text(&ledger, language, usize::MAX);
        prop_assert!(text == whole || utf16_len(&whole) > room);
    }

    #[test]
    fn what_lands_fits_or_is_prose_and_quotes_alone(
        ledger in ledger(), prose in "(\\PC{0,40}\n?){1,6}", quotes in prop::collection::vec(0..300_u32, 0..3),
        room in 0..3000_usize, ghosts in prop::collection::vec("[a-z]{3,9}", 0..5), receipt: bool, in_place: bool,
    ) {
        let unverified: Vec<Claim> = ghosts.into_iter().map(|text| Claim { kind: ClaimKind::Path, text }).collect();
        let frame = frame(receipt);
        let with = |room| Draft { room, in_place, prose: (!receipt).then_some(prose.as_str()), ..draft(&frame, &ledger, &unverified, &quotes) }.compose();
        let (composed, least) = (with(room), with(0).chars);
        prop_assert!(composed.chars <= room.max(least));
        let counted: usize = composed.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => utf16_len(text),
            Piece::Quote(at) => quotes[*at as usize] as usize,
        }).sum();
        prop_assert_eq!(counted, composed.chars);
        let quoted = composed.pieces.iter().filter(|piece| matches!(piece, Piece::Quote(_))).count();
        prop_assert_eq!(quoted, quotes.len());
    }

    #[test]
    fn a_claim_that_stands_in_the_text_is_always_found(
        names in prop::collection::vec("[a-z]{2,8}", 2..5), number in 100..9_999_999_u32, pad in 0..200_usize,
        before in "[ \n('\"\\[]", after in "[ \n)'\",;:]",
    ) {
        let path = format!("{}.rs", names.join("/"));
        let prose = format!("`{path}` and {number}");
        let text = format!("{}{before}{path}{after}{number}{after}", "filler ".repeat(pad));
        let mut lookup = Lookup::new(claims(&prose), &[]);
        lookup.read(&text);
        prop_assert_eq!(lookup.unverified(), []);
    }

    #[test]
    fn the_chunked_pass_agrees_with_one_chunk(text in "[ab/. ]{0,60}", repeats in 1..3000_usize, prose in "`[ab/]{1,3}\\.rs`") {
        // Whether a text is judged whole or in chunks must not show: every repeat is the same.
        let check = |text: &str| { let mut lookup = Lookup::new(claims(&prose), &[]); lookup.read(text); lookup.unverified() };
        let unit = format!("{text} | ");
        prop_assert_eq!(check(&unit.repeat(2)), check(&unit.repeat(repeats.max(2))));
    }

    #[test]
    fn arbitrary_text_is_read_without_panic(text in "\\PC*", more in "(?s).{0,200}") {
        for text in [&text, &more] {
            let claims = claims(text);
            let mut lookup = Lookup::new(claims, &["/a/b", "", "/"].map(str::to_owned));
            lookup.read(&more);
            let unverified = lookup.unverified().len();
            prop_assert!(unverified <= text.len());
            for one in split(text, Shell::Posix).into_iter().chain(split(text, Shell::Power)) {
                prop_assert!(one.changes().len() <= text.len() + 1);
                prop_assert!(!one.searches() || !one.words.is_empty());
                prop_assert!(!one.has_effect() || !one.only_looks());
            }
            prop_assert!(error_lines(text, false).iter().all(|line| utf16_len(line) <= 200));
            prop_assert!(of_command(text, true) != Outcome::Background || text.contains("running"));
            prop_assert!(utf16_len(&Tools::default().read(text, &more).what) <= 240);
            prop_assert!(matches!(Language::of_messages([text.as_str()]), Language::En | Language::Zh));
            prop_assert!(!one_line(text).contains('\n'));
        }
    }

    #[test]
    fn every_cut_is_between_code_points(text in "[a§→文🔬 ]{0,20}", limit in 0..30_usize) {
        prop_assert!(utf16_len(head(&text, limit)) <= limit);
        prop_assert!(utf16_len(&clip(&text, limit)) <= limit.max(utf16_len(&text).min(limit)));
        prop_assert!(text.starts_with(head(&text, limit)));
    }

    #[test]
    fn shell_words_never_lose_a_plain_command(program in "[a-z]{1,6}", argument in "[a-zA-Z0-9_.=-]{1,8}") {
        prop_assume!(!argument.contains('='));
        let quoted = format!("{program} '{argument}' \"{argument}\" {argument}");
        let commands = split(&quoted, Shell::Posix);
        prop_assume!(commands.first().is_some_and(|one| one.words.len() == 4));
        prop_assert_eq!(&commands[0].words[1..], [argument.clone(), argument.clone(), argument]);
    }
}
