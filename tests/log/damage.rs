//! Damaged logs: each kind is named with its line and reason, and the rest is audited.

use crate::audit::{audit, codes};
use crate::build::Log;
use proptest::prelude::*;
use serde_json::json;
use std::io::{Cursor, Write as _};
use std::num::NonZero;
use tool_rewind::audit::{Audit, Code};

fn log() -> Log {
    let mut log = Log::default();
    for turn in 0..20 {
        log.user(&format!("question {turn}"));
        log.assistant("answer", &[("c", "read", json!({ "path": "a" }))]);
        log.result("c", json!("append"), "text");
    }
    log
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// The log with one line exchanged.
fn with(line: usize, text: &[u8]) -> Vec<u8> {
    let mut lines = lines(&log().bytes());
    lines[line - 1] = [text, b"\n"].concat();
    lines.concat()
}

#[test]
fn a_line_that_is_no_event_is_named_and_passed_over() {
    for (text, code) in [
        (&b"{\"type\":\"user/mess"[..], Code::UnreadableLine),
        (b"", Code::UnreadableLine),
        (b"[]", Code::UnreadableLine),
        (b"{\"seq\":28}", Code::UnreadableLine),
        (b"{\"type\":\"user/message\",\"seq\":28,\"data\":7,\"surfaceOp\":\"append\"}", Code::BadEvent),
        (b"{\"type\":\"tool/result\",\"seq\":28,\"data\":{\"message\":{\"content\":[]}},\"surfaceOp\":\"append\"}", Code::BadEvent),
        (b"{\"type\":\"text-chunks\",\"seq0\":28,\"time0\":1,\"data\":{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[1],\"texts\":[\"a\"]}}", Code::BadChunkRow),
        (b"{\"type\":\"text-chunks\",\"seq0\":28,\"data\":{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[],\"texts\":[\"a\"]}}", Code::BadChunkRow),
        (b"{\"type\":\"text-chunks\",\"seq0\":28,\"time0\":9007199254740991,\"data\":{\"turn\":1,\"step\":1,\"index\":0,\"dt\":[1],\"texts\":[\"a\",\"b\"]}}", Code::BadChunkRow),
    ] {
        let audit = audit(with(30, text));
        assert_eq!(audit.findings[0].code, code, "{}", String::from_utf8_lossy(text));
        assert_eq!((audit.findings[0].line, audit.lines), (Some(30), 61));
        assert_eq!(audit.surface.nodes, 59);
    }
}

#[test]
fn a_line_that_is_not_utf8_is_read_with_replacement_characters() {
    let mut bytes = log().bytes();
    let at = bytes.windows(10).position(|window| window == b"question 7").unwrap();
    bytes[at] = 0xFF;
    let audit = audit(bytes);
    assert_eq!(codes(&audit), [(Code::NotUtf8, Some(23))]);
    assert_eq!(audit.surface.nodes, 60);
}

#[test]
fn seqs_that_jump_or_come_back_are_named() {
    let mut lines = lines(&log().bytes());
    let again = lines[10].clone();
    lines.insert(40, again);
    drop(lines.drain(20..23));
    let audit = audit(lines.concat());
    assert_eq!(codes(&audit), [(Code::SeqGap, Some(21)), (Code::SeqAgain, Some(38))]);
    assert_eq!(audit.findings[0].message, "Seqs 19 to 21 are missing.");
    assert_eq!(audit.surface.nodes, 57);
}

#[test]
fn a_torn_tail_a_missing_header_and_a_newer_format() {
    let mut bytes = log().bytes();
    bytes.truncate(bytes.len() - 5);
    let torn = audit(bytes);
    assert_eq!((codes(&torn), torn.surface.nodes), (vec![(Code::TornTail, Some(61))], 59));

    let headless = audit(lines(&log().bytes())[1..].concat());
    assert_eq!((codes(&headless), headless.surface.nodes), (vec![(Code::NoHeader, Some(1))], 60));
    assert_eq!(codes(&audit(Vec::new())), [(Code::NoHeader, None)]);

    let newer = audit(with(1, br#"{"type":"session","version":3,"id":"s"}"#));
    assert_eq!((codes(&newer), newer.surface.nodes), (vec![(Code::NewerFormat, Some(1))], 60));
}

fn frame(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The log as frames of ten lines each, the header in its own.
fn frames() -> Vec<Vec<u8>> {
    let lines = lines(&log().bytes());
    let (header, events) = lines.split_first().unwrap();
    std::iter::once(frame(header)).chain(events.chunks(10).map(|lines| frame(&lines.concat()))).collect()
}

#[test]
fn concatenated_frames_read_as_the_plain_log() {
    let plain = audit(log().bytes());
    let packed = audit(frames().concat());
    assert_eq!(serde_json::to_string(&plain).unwrap(), serde_json::to_string(&packed).unwrap());
    let one = audit(frame(&log().bytes()));
    assert_eq!(serde_json::to_string(&plain).unwrap(), serde_json::to_string(&one).unwrap());
}

#[test]
fn a_frame_that_breaks_off_gives_what_it_held() {
    let mut frames = frames();
    let last = frames.len() - 1;
    let short = frames[last].len() - 3;
    frames[last].truncate(short);
    let audit = audit(frames.concat());
    assert_eq!(codes(&audit).first().map(|(code, _)| *code), Some(Code::TornFrame));
    assert_eq!(audit.surface.nodes, 60, "only the checksum is missing");
}

#[test]
fn a_frame_that_cannot_be_read_is_skipped_and_the_next_one_read() {
    let mut frames = frames();
    for byte in frames[3].iter_mut().skip(8).take(20) {
        *byte ^= 0x5A;
    }
    let at = frames[..3].iter().map(Vec::len).sum::<usize>();
    let audit = audit(frames.concat());
    let bad = audit.findings.iter().find(|finding| finding.code == Code::BadFrame).unwrap();
    assert_eq!(
        bad.message,
        format!("The compressed frame at byte {at} cannot be read; read on at the next one.")
    );
    assert!(audit.surface.nodes >= 50, "{}", audit.surface.nodes);
    assert!(
        !codes(&audit).iter().any(|(code, _)| *code == Code::SeqGap),
        "a jump behind damage is no second finding"
    );
}

#[test]
fn a_line_beyond_all_measure_is_left_out() {
    let long =
        format!("{{\"type\":\"x\",\"seq\":28,\"ignorable\":true,\"data\":\"{}\"}}", "y".repeat(65 << 20));
    let audit = Audit { threads: NonZero::<usize>::MIN };
    let audit = audit.run("log", Cursor::new(with(29, long.as_bytes())), |_| ()).unwrap();
    assert_eq!(codes(&audit), [(Code::LineTooLong, Some(29))]);
    assert_eq!((audit.lines, audit.surface.nodes), (61, 59));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        audit(bytes);
    }

    #[test]
    fn a_log_with_any_bytes_in_it_is_read_to_its_end(
        cut in 0usize..3_000,
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        packed in any::<bool>(),
    ) {
        let mut log = if packed { frames().concat() } else { log().bytes() };
        let cut = cut.min(log.len());
        log.splice(cut..(cut + 7).min(log.len()), bytes);
        audit(log);
    }
}
