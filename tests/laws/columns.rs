//! Columns that nobody vouches for: one number of a real session's is another, or all of them are anything.

use crate::log::Read;
use crate::moves::{Scene, scenes};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tool_rewind::error::Refusal;
use tool_rewind::plan::Plan;
use tool_rewind::region::Target;
use tool_rewind::surface::Surface;

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..20u32, 1 => any::<u32>()]
}

/// Parses and plans; whatever comes out is refused with a reason or holds together.
fn try_all(read: &Read, target: &Target) -> Result<(), TestCaseError> {
    let surface = match Surface::parse(&read.columns()) {
        Ok(surface) => surface,
        Err(refusal) => {
            prop_assert!(matches!(refusal, Refusal::CorruptSurface { .. }), "{refusal:?}");
            return Ok(());
        }
    };
    prop_assert!(surface.nodes().iter().map(|node| node.seq).eq(read.nodes.iter().copied()));
    let Ok(plan) = Plan::new(&surface, target) else { return Ok(()) };
    prop_assert_eq!(plan.recheck(&surface, target.open_turn), Ok(()));
    prop_assert_eq!(plan.recheck_columns(&read.columns(), target.open_turn), Ok(()));
    let folded = plan.siblings.len() + plan.segments().into_iter().map(<[u32]>::len).sum::<usize>();
    prop_assert_eq!(plan.folded_nodes as usize, folded);
    prop_assert_eq!(plan.edits().len(), plan.siblings.len() + plan.segments().len());
    Ok(())
}

proptest! {
    #![proptest_config(crate::cases(500))]

    #[test]
    fn one_false_number_is_refused_or_planned(
        scene in scenes(), column in 0..6usize, at in any::<Index>(), value in number(), cut in any::<bool>(),
    ) {
        let Scene { log, mark, open_turn } = scene;
        let target = log.target(mark, open_turn);
        let mut read = log.read();
        if column == 5 {
            let at = at.index(read.facts.len() + 1);
            read.facts.truncate(if cut { at } else { usize::MAX });
            read.facts.iter_mut().skip(at).take(1).for_each(|fact| *fact = value.to_le_bytes()[0]);
        } else {
            let columns =
                [&mut read.nodes, &mut read.chars, &mut read.origins, &mut read.calls, &mut read.pool];
            let one = columns.into_iter().nth(column).unwrap();
            let at = at.index(one.len() + 1);
            one.truncate(if cut { at } else { usize::MAX });
            one.iter_mut().skip(at).take(1).for_each(|number| *number = value);
        }
        try_all(&read, &target)?;
    }

    #[test]
    fn anything_is_refused_or_planned(
        (nodes, chars, origins) in (vec(number(), 0..20), vec(number(), 0..20), vec(number(), 0..20)),
        facts in vec(any::<u8>(), 0..20),
        (calls, pool) in (vec(number(), 0..20), vec(number(), 0..40)),
        (log_length, last_assistant) in (number(), prop::option::of(number())), call in prop::option::of(number()), open_turn in any::<bool>(),
    ) {
        let read = Read { nodes, facts, chars, origins, calls, pool, ..Read::default() };
        let mark = "1".to_owned();
        let target = Target { mark, log_length, last_assistant, call, checkpoint_name: Some(3), open_turn };
        try_all(&read, &target)?;
    }
}
