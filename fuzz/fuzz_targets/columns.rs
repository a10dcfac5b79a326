//! The columns parser and all that stands on it, fed numbers that agree with nothing.
#![no_main]
use libfuzzer_sys::fuzz_target;
use tool_rewind::{plan::Plan, surface::Surface};
use tool_rewind_fuzz::Owned;

fuzz_target!(|data: &[u8]| {
    let (columns, target) = Owned::raw(&String::from_utf8_lossy(data));
    let Ok(surface) = Surface::parse(&columns.view()) else { return };
    let Ok(plan) = Plan::new(&surface, &target) else { return };
    assert_eq!(plan.recheck_columns(&columns.view(), true), plan.recheck(&surface, true));
    let _ = plan.edits();
    for routed in [true, false] {
        let _ = plan.request(&surface, routed, target.log_length);
    }
});
