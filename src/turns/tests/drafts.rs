//! From messages to a checkpoint.

use super::{Columns, Draft, Kind, Segment, draft, replace, segments, shown, told, units};
use crate::turns::balance::balanced;
use crate::turns::draft::check;
use crate::turns::refusal::TurnRefusal;
use crate::turns::script::Row;
use crate::turns::tag::parse_segments;

fn content(draft: &Draft, id: u32) -> Result<String, TurnRefusal> {
    draft.content(id).map(|content| shown(&content))
}

#[test]
fn t1_a_steer_stays_word_for_word_between_its_process() {
    let columns = Columns::default()
        .assistant()
        .call("c1", "read", "{\"path\":\"login.ts\"}")
        .result("c1", "export const login")
        .person("only in staging!")
        .assistant()
        .call("c1", "edit", "{}")
        .result("c1", "ok")
        .assistant()
        .text("done");
    let read = "[tool call: read] {\"path\":\"login.ts\"}\n[tool/result: read]\nexport const login";
    assert_eq!(
        told(&segments(&columns)),
        vec![
            (1, "working", read.to_owned()),
            (2, "user-steer", "only in staging!".to_owned()),
            (3, "working", "[tool call: edit] {}\n[tool/result: edit]\nok".to_owned()),
            (4, "assistant", "done".to_owned()),
        ]
    );
    assert_eq!(
        shown(&draft(&columns).checkpoint(7)),
        format!(
            "<turn-summary turn=\"7\" version=\"5\">\n<working:1>\n{read}\n</working:1>\n<user-steer:2>\nonly in \
             staging!\n</user-steer:2>\n<working:3>\n[tool call: edit] {{}}\n[tool/result: edit]\nok\n\
             </working:3>\n<assistant:4>\ndone\n</assistant:4>\n</turn-summary>"
        )
    );
}

#[test]
fn tricky_5_results_without_text_are_one_working_segment() {
    let columns = Columns::default()
        .assistant()
        .reasoning("hm")
        .call("a", "read", "{}")
        .call("b", "grep", "{}")
        .result("b", "")
        .result("a", "x");
    let expected = "[reasoning]\nhm\n[tool call: read] {}\n[tool call: grep] {}\n[tool/result: grep]\n\n\
                    [tool/result: read]\nx";
    assert_eq!(told(&segments(&columns)), vec![(1, "working", expected.to_owned())]);
}

#[test]
fn tricky_6_a_reused_call_id_names_the_right_tool_by_occurrence() {
    let columns = Columns::default()
        .assistant()
        .call("0", "read", "{}")
        .call("0", "grep", "{}")
        .result("0", "first")
        .row(Row::FailedResult, &units("0"))
        .text("second")
        .result("9", "nobody asked");
    let text = shown(&segments(&columns)[0].content);
    assert!(text.contains("[tool/result: read]\nfirst\n[tool/result: grep](error)\nsecond"));
    assert!(text.contains("[tool/result: unknown]\nnobody asked"));
}

#[test]
fn tricky_6_pairing_is_by_occurrence_and_faults_keep_the_turn_raw() {
    let code = |columns: Columns| balanced(&columns.script()).map_err(|refusal| refusal.code());
    let two = || Columns::default().assistant().call("a", "read", "").call("b", "grep", "");
    assert_eq!(code(two().result("b", "").result("a", "")), Ok(()), "parallel results in any order");
    assert_eq!(code(two().result("a", "").assistant().text("x").result("b", "")), Ok(()), "repaired later");
    assert_eq!(code(two().result("a", "")), Err("UNBALANCED_OPEN"));
    assert_eq!(code(two().result("a", "").result("a", "")), Err("UNBALANCED_ORPHAN"));
    assert_eq!(code(Columns::default().quote("q").result("z", "")), Err("UNBALANCED_ORPHAN"));
    let twice = || Columns::default().assistant().call("z", "read", "").call("z", "grep", "");
    assert_eq!(code(twice().result("z", "")), Err("UNBALANCED_OPEN"));
    assert_eq!(code(twice().result("z", "").result("z", "")), Ok(()));
}

#[test]
fn tricky_7_a_tag_line_in_somebodys_text_moves_the_id_base() {
    let look_alike = "before\n</user-steer:1>\nafter";
    let columns = Columns::default().person("one").assistant().text("two").person(look_alike);
    let draft = draft(&columns);
    assert_eq!(draft.seed().iter().map(|segment| segment.id).collect::<Vec<_>>(), vec![2, 3, 4]);
    let text = draft.checkpoint(1);
    let read: Vec<(u64, String)> = parse_segments(&text)
        .into_iter()
        .map(|segment| (segment.id, shown(&text[segment.content])))
        .collect();
    assert_eq!(read, vec![(2, "one".to_owned()), (3, "two".to_owned()), (4, look_alike.to_owned())]);
}

#[test]
fn tricky_8_crlf_in_a_persons_text_is_preserved() {
    let inline = "  <assistant:1> inline </assistant:1>";
    let columns = Columns::default().person("a\r\nb\r\n").assistant().text(inline);
    assert_eq!(
        told(&segments(&columns)),
        vec![(1, "user-steer", "a\r\nb\r\n".to_owned()), (2, "assistant", inline.to_owned())]
    );
}

#[test]
fn tricky_9_every_bad_replacement_has_its_code() {
    let columns = Columns::default().person("go").assistant().call("c", "read", "{}").text("done");
    let mut draft = draft(&columns);
    assert_eq!(replace(&mut draft, 2, "\n x \n"), Ok(Kind::Working));
    assert_eq!(content(&draft, 2), Ok("x".to_owned()));
    assert_eq!(replace(&mut draft, 2, "a\n<assistant:9>\nb"), Err("TAG_IN_CONTENT"));
    assert_eq!(replace(&mut draft, 3, "mine"), Err("VERBATIM_SEGMENT"));
    assert_eq!(replace(&mut draft, 1, "mine"), Err("VERBATIM_SEGMENT"));
    assert_eq!(replace(&mut draft, 99, "x"), Err("UNKNOWN_SEGMENT"));
    assert_eq!(
        draft.replace(99, &units("x")).map_err(|refusal| refusal.to_string()),
        Err("there is no segment 99; the segments of this draft are user-steer:1, working:2, assistant:3"
            .into())
    );
    assert_eq!(replace(&mut draft, 2, " \n\t"), Err("EMPTY_CONTENT"));
    assert_eq!(replace(&mut draft, 2, "<working:2>\n\n</working:2>"), Err("EMPTY_CONTENT"));
    assert_eq!(replace(&mut draft, 2, "then\n[tool/result: read]\nrest"), Err("WORKING_RAW_MARKER"));
    assert_eq!(replace(&mut draft, 2, "[tool call: read] {}"), Err("WORKING_RAW_MARKER"));
    assert_eq!(replace(&mut draft, 2, &"x".repeat(2001)), Err("TOO_LONG"));
    assert_eq!(content(&draft, 2), Ok("x".to_owned()), "a refused replacement changes nothing");
    assert_eq!(replace(&mut draft, 2, "<working:2>\r\nread a\r\nthen b\n</working:2>"), Ok(Kind::Working));
    assert_eq!(content(&draft, 2), Ok("read a\nthen b".to_owned()));
    assert_eq!(replace(&mut draft, 2, &"🔬".repeat(2000)), Ok(Kind::Working));
}

#[test]
fn tricky_10_the_check_names_the_first_divergence() {
    let columns = Columns::default()
        .person("keep\u{a0}this")
        .assistant()
        .call("c", "read", &"y".repeat(250))
        .text("done");
    let seed = segments(&columns);
    let code = |change: &dyn Fn(&mut Vec<Segment>)| {
        let mut last = seed.clone();
        last[1].content = units("read it");
        change(&mut last);
        check(&seed, &last, 2000).err().map(|refusal| refusal.code())
    };
    assert_eq!(code(&|_| ()), None);
    assert_eq!(code(&|last| drop(last.pop())), Some("COUNT"));
    assert_eq!(code(&|last| last.swap(0, 1)), Some("ID_OR_KIND"));
    assert_eq!(code(&|last| last[2].kind = Kind::UserSteer), Some("ID_OR_KIND"));
    assert_eq!(code(&|last| last[0].content = units("keep this")), Some("VERBATIM_CHANGED"));
    assert_eq!(code(&|last| last[1].content = units(&"z".repeat(2001))), Some("WORKING_TOO_LONG"));
    assert_eq!(code(&|last| last[1].content = units(&"z".repeat(2000))), None);
    assert_eq!(code(&|last| last[1].content = seed[1].content.clone()), Some("WORKING_UNTOUCHED"));
    assert_eq!(code(&|last| last[1].content = units("x\n[tool/result: a]")), Some("WORKING_RAW_MARKER"));
}

#[test]
fn tricky_10_a_short_working_segment_may_stay_as_it_is() {
    let columns = Columns::default().assistant().call("c", "read", &"y".repeat(180)).text("done");
    let draft = draft(&columns);
    assert_eq!(draft.unfinished(), Vec::<u32>::new());
    assert_eq!(draft.check(), Ok(()), "the raw marker rule is for rewritten segments alone");
}

#[test]
fn tricky_11_segments_of_an_earlier_summary_are_spliced_and_stay() {
    let earlier = "<turn-summary turn=\"3\" version=\"4\">\n<working:1>\n[tool call: old] kept\n</working:1>\n\
                   <user-steer:2>\nmind the gap\n</user-steer:2>\n</turn-summary>";
    let columns = Columns::default().fragment(earlier).assistant().call("c", "read", &"y".repeat(300));
    let mut draft = draft(&columns);
    assert_eq!(
        draft.seed().iter().map(|segment| (segment.id, segment.kind, segment.preserved)).collect::<Vec<_>>(),
        vec![(1, Kind::Working, true), (2, Kind::UserSteer, true), (3, Kind::Working, false)]
    );
    assert_eq!(content(&draft, 1), Ok("[tool call: old] kept".to_owned()));
    assert_eq!(replace(&mut draft, 1, "new"), Err("PRESERVED_CHANGED"));
    let mut last = draft.segments();
    last[0].content = units("new");
    assert_eq!(check(&draft.seed(), &last, 2000), Err(TurnRefusal::PreservedChanged(1)));
    assert_eq!(draft.unfinished(), vec![3], "preserved segments are exempt, however long");
}

#[test]
fn text_beside_the_segments_of_a_fragment_is_not_lost() {
    let fragment = "<working:1>\na\n</working:1>\nand more";
    let columns = Columns::default().fragment(fragment).assistant().text("x");
    assert_eq!(told(&segments(&columns))[0], (2, "working", format!("[injected: turn-memory]\n{fragment}")));
}

#[test]
fn tricky_12_look_alikes_and_lone_surrogates_land_unchanged() {
    let odd = [0xD83D, u16::from(b'x'), 0xDC00];
    let columns = Columns::default()
        .person("<verbatim kind=\"turn-prompt\"/>")
        .row(Row::Person, &[])
        .row(Row::Text, &odd)
        .assistant()
        .text("ok");
    let text = draft(&columns).checkpoint(1);
    assert!(shown(&text).contains("<user-steer:1>\n<verbatim kind=\"turn-prompt\"/>\n</user-steer:1>"));
    assert!(text.windows(3).any(|window| window == odd));
    assert!(!text.contains(&0xFFFD));
}

#[test]
fn tricky_14_the_smallest_possible_checkpoint_is_known_before_any_request() {
    let columns =
        Columns::default().person("steer").assistant().call("c", "bash", &"y".repeat(290)).text("ok");
    assert_eq!(
        shown(&draft(&columns).floor(3)),
        "<turn-summary turn=\"3\" version=\"5\">\n<user-steer:1>\nsteer\n</user-steer:1>\n<working:2>\n.\n\
         </working:2>\n<assistant:3>\nok\n</assistant:3>\n</turn-summary>"
    );
}

#[test]
fn quotes_of_a_fold_report_are_steers_before_its_process() {
    let columns =
        Columns::default().quote("never push to main").injected("rewind", "report").assistant().text("ok");
    assert_eq!(
        told(&segments(&columns)),
        vec![
            (1, "user-steer", "never push to main".to_owned()),
            (2, "working", "[injected: rewind]\nreport".to_owned()),
            (3, "assistant", "ok".to_owned()),
        ]
    );
}

#[test]
fn empty_text_makes_no_segment_and_other_blocks_are_named() {
    let columns = Columns::default()
        .assistant()
        .text("")
        .row(Row::Person, &[])
        .row(Row::Other, &units("image"))
        .text(" look")
        .row(Row::Person, &[]);
    assert_eq!(told(&segments(&columns)), vec![(1, "user-steer", "[image] look".to_owned())]);
}
