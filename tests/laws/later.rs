//! A plan against surfaces read later (docs/rewind.md 3.1), and a session that was folded (1.8).

use crate::log::{Log, Mark};
use crate::model::decide;
use crate::moves::{Move, Scene, Stage, moves, scenes};
use proptest::prelude::*;
use tool_rewind::error::Refusal;
use tool_rewind::plan::Plan;

/// Whether a plan holds on a log as it is now, looked at both ways: parsed, and by its columns.
fn held(plan: &Plan, log: &Log, open_turn: bool) -> Result<(), Refusal> {
    let found = plan.recheck(&log.surface(), open_turn);
    assert_eq!(plan.recheck_columns(&log.read().columns(), open_turn), found);
    found
}

proptest! {
    #![proptest_config(crate::cases(2500))]

    #[test]
    fn a_plan_holds_as_long_as_its_nodes_do(
        scene in scenes(), later in moves(8), which in any::<prop::sample::Index>(),
    ) {
        let Scene { log, mark, open_turn } = scene;
        let Ok(plan) = Plan::new(&log.surface(), &log.target(mark, open_turn)) else { return Ok(()) };
        prop_assert_eq!(held(&plan, &log, open_turn), Ok(()));
        let ended = if plan.siblings.is_empty() { Ok(()) } else { Err(Refusal::Changed) };
        prop_assert_eq!(held(&plan, &log, false), ended);

        let mut grown = Stage::on(log.clone());
        let rewrites = |one: &&Move| matches!(one, Move::Prune(_) | Move::Compact(..) | Move::Fold(_));
        later.iter().filter(|one| !rewrites(one)).for_each(|one| grown.play(one));
        prop_assert_eq!(held(&plan, &grown.log, open_turn), Ok(()));

        let folded: Vec<u32> = plan.folded().collect();
        let mut rewritten = grown.log;
        rewritten.rewrite(*which.get(&folded));
        prop_assert_eq!(held(&plan, &rewritten, open_turn), Err(Refusal::Changed));

        // Any other writer, anywhere: the plan holds where the model still takes the same nodes.
        let mut written = Stage::on(log);
        later.iter().filter(rewrites).for_each(|one| written.play(one));
        let same = decide(&written.log, mark, open_turn).is_ok_and(|now| now.folded == folded);
        prop_assert_eq!(held(&plan, &written.log, open_turn), if same { Ok(()) } else { Err(Refusal::Changed) });
    }

    #[test]
    fn a_fold_that_landed_is_not_made_again(scene in scenes()) {
        let Scene { mut log, mark, open_turn } = scene;
        let Ok(plan) = Plan::new(&log.surface(), &log.target(mark, open_turn)) else { return Ok(()) };
        log.land_all(&plan.edits());
        prop_assert_eq!(held(&plan, &log, open_turn), Err(Refusal::Changed));
        // The next mark is younger than all of it.
        let next = Mark { length: log.len(), call: None };
        let again = Plan::new(&log.surface(), &log.target(next, open_turn));
        prop_assert!(matches!(again, Err(Refusal::EmptyRegion { .. })), "{:?}", again);
    }
}
