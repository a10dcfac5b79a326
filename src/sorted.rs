//! Order at little cost of code: each sort of the standard library is eight kilobytes for every type.

use crate::event::Seq;

/// Puts items in the order of their seqs, those of one seq as they come.
pub(crate) fn by_seq<T>(items: impl IntoIterator<Item = T>, seq: impl Fn(&T) -> Seq) -> Vec<T> {
    in_order(items, |item| i64::from(seq(item)))
}

/// Puts items in the order of a key, those of one key as they come. Sorted are the places, not the items: one sort
/// for items of every type.
pub(crate) fn in_order<T>(items: impl IntoIterator<Item = T>, key: impl Fn(&T) -> i64) -> Vec<T> {
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    let mut order: Vec<(i64, usize)> =
        items.iter().flatten().enumerate().map(|(place, item)| (key(item), place)).collect();
    order.sort_unstable();
    order.into_iter().filter_map(|(_, place)| items.get_mut(place)?.take()).collect()
}

/// Puts items in the order of a value, the lowest first, those of one value as they come.
pub(crate) fn by_value<T>(items: impl IntoIterator<Item = T>, value: impl Fn(&T) -> f64) -> Vec<T> {
    // The bits of a float as `f64::total_cmp` compares them.
    let key = |value: f64| {
        let bits = value.to_bits().cast_signed();
        bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
    };
    in_order(items, |item| key(value(item)))
}

/// Gathers items into a map or set by putting them in one by one; `collect` would sort them first.
pub(crate) fn inserted<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    all.extend(items);
    all
}

#[cfg(test)]
mod tests {
    use super::{by_seq, by_value};
    use std::cmp::Ordering;

    #[test]
    fn items_of_one_seq_stay_as_they_come() {
        let items = vec![(7, 'a'), (3, 'b'), (7, 'c'), (3, 'd'), (1, 'e')];
        assert_eq!(by_seq(items, |one| one.0), [(1, 'e'), (3, 'b'), (3, 'd'), (7, 'a'), (7, 'c')]);
        assert!(by_seq(Vec::<u32>::new(), |one| *one).is_empty());
    }

    #[test]
    fn values_are_compared_as_the_standard_library_compares_them() {
        let values =
            [0.5, f64::NAN, -0.0, f64::INFINITY, 0.0, -2.5, f64::NEG_INFINITY, -f64::NAN, 0.5, 1e-300];
        let sorted = by_value(values, |one| *one);
        assert!(sorted.windows(2).all(|two| two[0].total_cmp(&two[1]) != Ordering::Greater), "{sorted:?}");
        let places = by_value(values.into_iter().enumerate(), |one| one.1);
        assert_eq!(places.iter().map(|one| one.0).collect::<Vec<_>>(), [7, 6, 5, 2, 4, 9, 0, 8, 3, 1]);
    }
}
