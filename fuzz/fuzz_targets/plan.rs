//! Region selection and plan verification: a session, and on a second line the same session some time later.
#![no_main]
use libfuzzer_sys::fuzz_target;
use tool_rewind::{plan::Plan, surface::Surface};
use tool_rewind_fuzz::{Script, assert_lawful, assert_sendable};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (now, later) = text.split_once('\n').unwrap_or((&text, ""));
    let (now, later) = (Script::read(now), Script::read(later));
    let Ok(surface) = Surface::parse(&now.columns.view()) else { return };
    let Ok(plan) = Plan::new(&surface, &now.target) else { return };
    assert_lawful(&surface, &plan);
    assert_eq!(plan.recheck(&surface, now.target.open_turn), Ok(()));
    assert_eq!(plan.recheck_columns(&now.columns.view(), now.target.open_turn), Ok(()));
    let later = Surface::parse(&later.columns.view());
    for whole in [Ok(surface), later].iter().flatten().filter(|whole| plan.recheck(whole, true).is_ok()) {
        for routed in [true, false] {
            assert_sendable(whole, &plan.request(whole, routed, now.target.log_length));
        }
    }
});
