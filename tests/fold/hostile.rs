//! Columns and inputs that no harness sends: refused or planned, never a panic (issue "Bad input", case U3).

use proptest::prelude::*;
use tool_rewind::plan::{Plan, RequestPlan};
use tool_rewind::region::Target;
use tool_rewind::surface::{Columns, Surface};

fn small() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![8 => 0..12u32, 1 => any::<u32>()], 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_columns_make_the_core_panic(
        nodes in small(),
        facts in prop::collection::vec(any::<u8>(), 0..24),
        chars in small(),
        origins in small(),
        calls in small(),
        pool in small(),
        log_length in any::<u32>(),
        last_assistant in prop::option::of(0..14u32),
        call in prop::option::of(any::<u32>()),
        open_turn in any::<bool>(),
    ) {
        let columns = Columns {
            nodes: &nodes, facts: &facts, chars: &chars, origins: &origins, calls: &calls, pool: &pool,
        };
        let Ok(surface) = Surface::parse(&columns) else { return Ok(()) };
        for log_length in [log_length % 14, log_length] {
            let target = Target {
                mark: "m".to_owned(),
                log_length,
                last_assistant,
                call,
                checkpoint_name: Some(3),
                open_turn,
            };
            let Ok(plan) = Plan::new(&surface, &target) else { continue };
            prop_assert_eq!(plan.recheck(&surface, open_turn), Ok(()));
            prop_assert_eq!(plan.recheck_columns(&columns, open_turn), Ok(()));
            prop_assert!(!plan.edits().is_empty());
            for routed in [true, false] {
                if let RequestPlan::Routed { cut, .. } = plan.request(&surface, routed, log_length) {
                    prop_assert!(cut <= nodes.len());
                }
            }
        }
    }
}
