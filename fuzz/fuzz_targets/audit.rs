//! Arbitrary bytes as a session log, read on one thread and on two: both come to the same audit.
#![no_main]
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use std::num::NonZero;
use tool_rewind::audit::Audit;

fuzz_target!(|data: &[u8]| {
    let read = |threads| {
        let audit = Audit { threads: NonZero::new(threads).expect("a number above 0") };
        audit.run("log", Cursor::new(data), |_| ()).expect("memory can be read")
    };
    let (one, two) = (read(1), read(2));
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
    // Every refused request has a fault that is told, and every fault a place.
    assert_eq!(one.requests.refused > 0, one.requests.first.is_some());
    assert!(one.requests.refused <= one.requests.count);
    assert!(one.findings.iter().all(|finding| finding.message.ends_with('.')));
});
