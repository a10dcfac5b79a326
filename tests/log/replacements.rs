//! Laws of the reader of replacements, against a model that carries every node's originals along.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tool_rewind::event::{Seq, SurfaceOp};
use tool_rewind::replacements::{Misfit, Replacements, Standing};

#[derive(Debug, Clone)]
enum Step {
    /// So many log-only events.
    Skip(u32),
    Append,
    /// Positions as shares of the surface, in any order.
    Replace(f64, f64),
    /// A replacement of something that is not there.
    Misfit(Seq),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => (1u32..5).prop_map(Step::Skip),
        6 => Just(Step::Append),
        4 => (0.0..1.0f64, 0.0..1.0f64).prop_map(|(a, b)| Step::Replace(a, b)),
        1 => (1000u32..2000).prop_map(Step::Misfit),
    ];
    prop::collection::vec(step, 0..80)
}

#[derive(Default)]
struct Model {
    surface: Vec<(Seq, Vec<Seq>)>,
    originals: BTreeMap<Seq, Vec<Seq>>,
}

fn at(surface: &[(Seq, Vec<Seq>)], share: f64) -> usize {
    ((surface.len() as f64 * share) as usize).min(surface.len() - 1)
}

proptest! {
    #[test]
    fn nothing_is_lost_and_everything_has_one_root(steps in steps()) {
        let mut reader = Replacements::default();
        let mut model = Model::default();
        let mut appended = BTreeSet::new();
        let mut seq = 0;
        for step in steps {
            match step {
                Step::Skip(count) => seq += count,
                Step::Append => {
                    prop_assert_eq!(reader.apply(seq, SurfaceOp::Append), Ok([].as_slice()));
                    model.surface.push((seq, vec![seq]));
                    model.originals.insert(seq, vec![seq]);
                    appended.insert(seq);
                    seq += 1;
                }
                Step::Replace(a, b) if !model.surface.is_empty() => {
                    let (a, b) = (at(&model.surface, a), at(&model.surface, b));
                    let (start, end) = (model.surface[a].0, model.surface[b].0);
                    let op = SurfaceOp::Replace { start, end };
                    if a > b {
                        let before = reader.surface();
                        prop_assert_eq!(reader.apply(seq, op), Err(Misfit::Backwards { seq, start, end }));
                        prop_assert_eq!(reader.surface(), before);
                    } else {
                        let taken: Vec<_> = model.surface[a..=b].iter().map(|(seq, _)| *seq).collect();
                        prop_assert_eq!(reader.apply(seq, op), Ok(taken.as_slice()));
                        let all: Vec<Seq> = model.surface[a..=b].iter().flat_map(|(_, all)| all.clone()).collect();
                        model.surface.splice(a..=b, [(seq, all.clone())]);
                        model.originals.insert(seq, all);
                    }
                    seq += 1;
                }
                Step::Replace(..) => {}
                Step::Misfit(start) => {
                    let before = reader.surface();
                    let refused = reader.apply(seq, SurfaceOp::Replace { start, end: start });
                    prop_assert_eq!(refused, Err(Misfit::Absent { seq, start, end: start, missing: start }));
                    prop_assert_eq!(reader.surface(), before);
                    seq += 1;
                }
            }
        }

        let surface: Vec<Seq> = model.surface.iter().map(|(seq, _)| *seq).collect();
        prop_assert_eq!(reader.surface(), surface.as_slice());
        let mut behind = Vec::new();
        for root in reader.surface() {
            for original in reader.originals(root) {
                prop_assert_eq!(reader.root_of(original), root);
                behind.push(original);
            }
        }
        let once: BTreeSet<Seq> = behind.iter().copied().collect();
        prop_assert_eq!(behind.len(), once.len());
        prop_assert_eq!(&once, &appended);
        for (node, originals) in &model.originals {
            prop_assert_eq!(&reader.originals(*node), originals);
            let visible = surface.contains(node);
            match reader.standing(*node) {
                Standing::Visible => prop_assert!(visible),
                Standing::ReplacedBy(by) => prop_assert!(!visible && reader.taken_by(by).contains(node)),
                Standing::NoNode => prop_assert!(false, "{} is a node", node),
            }
        }
        let hidden: Vec<Seq> = appended.iter().copied().filter(|seq| !surface.contains(seq)).collect();
        prop_assert_eq!(reader.hidden().collect::<Vec<_>>(), hidden);
        prop_assert_eq!(reader.standing(seq), Standing::NoNode);
        prop_assert!(reader.iter().all(|(seq, taken)| reader.taken_by(seq) == taken && !taken.is_empty()));
    }
}

#[test]
fn seqs_only_grow() {
    let mut reader = Replacements::default();
    reader.apply(4, SurfaceOp::Append).unwrap();
    assert_eq!(reader.apply(4, SurfaceOp::Append), Err(Misfit::Order { seq: 4, last: 4 }));
    assert_eq!(reader.apply(3, SurfaceOp::Append), Err(Misfit::Order { seq: 3, last: 4 }));
    assert_eq!(reader.surface(), [4]);
    assert_eq!(reader.last(), Some(4));
}

#[test]
fn a_chain_as_deep_as_the_log_is_long_is_followed() {
    let mut reader = Replacements::default();
    reader.apply(0, SurfaceOp::Append).unwrap();
    for seq in 1..200_000 {
        reader.apply(seq, SurfaceOp::Replace { start: seq - 1, end: seq - 1 }).unwrap();
    }
    assert_eq!(reader.originals(199_999), [0]);
    assert_eq!(reader.root_of(0), 199_999);
    assert_eq!(reader.hidden().collect::<Vec<_>>(), [0]);
}
