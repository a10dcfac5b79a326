//! Numbers as a person reads them, the same wherever this package prints one.

/// A count with separators.
// Words of every table and sentence: inlined, they are as much code again as what calls them.
#[inline(never)]
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 node`, `1,200 nodes`.
#[inline(never)]
#[must_use]
pub fn plural(number: u64, word: &str) -> String {
    format!("{} {word}{}", count(number), if number == 1 { "" } else { "s" })
}

/// The first and last of some seqs in surface order: `s7`, or `s7 to s12`.
#[must_use]
pub fn range(first: u32, last: u32) -> String {
    if first == last { format!("s{first}") } else { format!("s{first} to s{last}") }
}
