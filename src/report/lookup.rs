//! Looks all claims up in one pass: one automaton over text with quotes, white space and path separators made
//! equal, each hit bounded at token ends. Linear in the text, whatever the number of claims.

use daachorse::DoubleArrayAhoCorasick;

use super::claims::{Claim, ClaimKind, elided};
use super::normal::{fill, normalised};

/// Finds any of many texts in one pass; each is known by its number.
pub(super) type Automaton = DoubleArrayAhoCorasick<usize>;

/// Builds an automaton; building fails only beyond millions of needles or states, which the bounds on claims
/// exclude. One builder serves all: inlined, each is twelve kilobytes of code.
#[inline(never)]
pub(super) fn automaton(needles: Vec<(&[u8], usize)>) -> Option<Automaton> {
    // The builder takes 64 kB before it looks at its needles.
    if needles.is_empty() { None } else { Automaton::with_values(needles).ok() }
}

/// Claims being looked up. Feed every text the model was sent, then ask what was nowhere.
pub struct Lookup {
    claims: Vec<Claim>,
    /// For each claim the ways to find it; each way is a set of needles that must all be found.
    ways: Vec<Vec<Vec<usize>>>,
    needles: Vec<Needle>,
    automaton: Option<Automaton>,
    longest: usize,
    buffer: Vec<u8>,
    /// Whether the buffer begins with what an earlier pass has judged.
    carried: bool,
}

#[derive(Debug)]
struct Needle {
    text: Vec<u8>,
    ends: Ends,
    found: bool,
}

/// Where a token of this kind ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Relative,
    Absolute,
    /// The end of a path: its separator is the needle's own.
    Behind,
    /// A part of a pattern: anything may go on.
    Free,
    Command,
    Word,
    Kebab,
    Url,
    Hash,
    Number,
}

/// Normalised bytes judged at a time; what a hit's ends may need is carried over.
const CHUNK: usize = 64 * 1024;
/// Bytes beside a hit that may decide: `://` and a host in front of a route.
const MARGIN: usize = HOST + 8;
/// Longest host with its port that is looked through, in bytes.
const HOST: usize = 64;

impl Lookup {
    /// Prepares the claims. `roots` are directories whose prefix a path may carry or lack, such as the
    /// session's working directory.
    #[must_use]
    pub fn new(claims: Vec<Claim>, roots: &[String]) -> Self {
        let mut needles = Vec::new();
        let ways = claims.iter().map(|claim| ways(claim, roots, &mut needles)).collect();
        let longest = needles.iter().map(|needle| needle.text.len()).max().unwrap_or(0);
        // An empty needle is found as it stands; the automaton would find it everywhere, and nothing else.
        let patterns = needles.iter().enumerate().filter(|(_, needle)| !needle.text.is_empty());
        let automaton = automaton(patterns.map(|(index, needle)| (needle.text.as_slice(), index)).collect());
        Self { claims, ways, needles, automaton, longest, buffer: Vec::new(), carried: false }
    }

    /// Reads one text the model was sent.
    pub fn read(&mut self, text: &str) {
        if self.longest == 0 {
            return;
        }
        let mut bytes = text.as_bytes();
        self.buffer.clear();
        self.carried = false;
        let mut spaced = false;
        while !bytes.is_empty() {
            bytes = fill(&mut self.buffer, CHUNK, bytes, &mut spaced);
            self.judge(bytes.is_empty());
        }
    }

    /// The claims that were in none of the texts, in order of appearance.
    #[must_use]
    pub fn unverified(self) -> Vec<Claim> {
        let Self { claims, ways, needles, .. } = self;
        let found = |needle: &usize| needles.get(*needle).is_some_and(|needle| needle.found);
        let is_found = |ways: &Vec<Vec<usize>>| ways.iter().any(|way| way.iter().all(found));
        claims.into_iter().zip(ways).filter(|(_, ways)| !is_found(ways)).map(|(claim, _)| claim).collect()
    }

    fn judge(&mut self, last: bool) {
        let Self { automaton: Some(automaton), needles, buffer, carried, longest, .. } = self else { return };
        for hit in automaton.find_overlapping_iter(buffer.as_slice()) {
            let judged_before = *carried && hit.start() < MARGIN;
            let judged_later = !last && hit.end() + MARGIN > buffer.len();
            let Some(needle) = needles.get_mut(hit.value()) else { continue };
            if needle.found || judged_before || judged_later {
                continue;
            }
            let before = buffer.get(..hit.start()).unwrap_or_default();
            let after = buffer.get(hit.end()..).unwrap_or_default();
            needle.found = needle.ends.bound(before, after, &needle.text);
        }
        let keep = (*longest + 2 * MARGIN).min(buffer.len());
        buffer.drain(..buffer.len() - keep);
        *carried = true;
    }
}

/// The ways to find a claim; its needles are appended to `needles`.
fn ways(claim: &Claim, roots: &[String], needles: &mut Vec<Needle>) -> Vec<Vec<usize>> {
    let mut needle = |text: &str, ends: Ends| {
        let text = normalised(text.trim());
        needles.push(Needle { found: text.is_empty(), text, ends });
        needles.len() - 1
    };
    match claim.kind {
        // Nobody is shown `src/*.rs` itself where he was shown what it stands for.
        ClaimKind::Path if claim.text.contains('*') => {
            let parts = claim.text.split('*').filter(|part| part.len() > 1);
            vec![
                vec![needle(&claim.text, Ends::Relative)],
                parts.map(|part| needle(part, Ends::Free)).collect(),
            ]
        }
        ClaimKind::Path => path_forms(&claim.text, roots)
            .iter()
            .flat_map(|form| {
                let ends = if form.starts_with('/') { Ends::Absolute } else { Ends::Relative };
                let [inside, behind] = windows_forms(form);
                [
                    Some(vec![needle(form, ends)]),
                    inside.map(|form| vec![needle(&form, ends)]),
                    behind.map(|form| vec![needle(&form, Ends::Behind)]),
                ]
            })
            .flatten()
            .collect(),
        ClaimKind::Number => {
            number_forms(&claim.text).iter().map(|form| vec![needle(form, Ends::Number)]).collect()
        }
        ClaimKind::Command => vec![vec![needle(&claim.text, Ends::Command)]],
        ClaimKind::Url => vec![vec![needle(claim.text.trim_end_matches('/'), Ends::Url)]],
        ClaimKind::Hash => vec![vec![needle(&claim.text, Ends::Hash)]],
        ClaimKind::QuotedError => {
            let parts = elided(&claim.text).into_iter().filter(|part| !part.is_empty());
            vec![parts.map(|part| needle(part, Ends::Word)).collect()]
        }
        ClaimKind::Identifier => {
            let ends = if claim.text.contains('-') { Ends::Kebab } else { Ends::Word };
            let mut ways = vec![vec![needle(&claim.text, ends)]];
            // `Type::method` is fair where both its names were seen; a wrong one of them still shows.
            let names: Vec<&str> =
                claim.text.split(['.', ':', '#']).filter(|name| !name.is_empty()).collect();
            let plain = |name: &&str| {
                name.chars().count() >= 3 && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            };
            if names.len() > 1 && names.iter().all(plain) {
                ways.push(names.iter().map(|name| needle(name, Ends::Word)).collect());
            }
            // `v1.2.3` and `react@1.2.3` stand in a manifest as a name and a number.
            let is_version =
                |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('.');
            let (name, version) = claim.text.rsplit_once('@').unwrap_or(("", &claim.text));
            let version = version.trim_start_matches(['v', '^', '~']);
            if version != claim.text && is_version(version) {
                let mut way = vec![needle(version, Ends::Number)];
                way.extend((!name.is_empty()).then(|| needle(name, Ends::Kebab)));
                ways.push(way);
            }
            ways
        }
    }
}

/// A path as it stands, and without the prefixes that the same file may go without.
fn path_forms(path: &str, roots: &[String]) -> Vec<String> {
    let path = path.strip_prefix("file://").unwrap_or(path).replace('\\', "/");
    let path = path.trim_end_matches('/');
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut forms = vec![path.to_owned()];
    for root in roots.iter().map(|root| root.replace('\\', "/")) {
        let root = root.trim_end_matches('/');
        let name = root.rsplit('/').next().unwrap_or(root);
        for prefix in [root, name].into_iter().filter(|prefix| !prefix.is_empty()) {
            let rest = path.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/'));
            forms.extend(rest.filter(|rest| !rest.is_empty()).map(str::to_owned));
        }
    }
    forms.extend(path.strip_prefix("~/").filter(|rest| !rest.is_empty()).map(str::to_owned));
    forms
}

/// A path as Windows writes it, where that reads otherwise: `\n`, `\r` and `\t` before a name look like escapes. As it
/// stands, and as the end of a longer path.
fn windows_forms(form: &str) -> [Option<String>; 2] {
    let escapes = |rest: &str| rest.starts_with(['n', 'r', 't']);
    let inside = form.split('/').skip(1).any(escapes);
    let backward = form.replace('/', "\\");
    let behind = escapes(form).then(|| format!("\\{backward}"));
    [inside.then_some(backward), behind]
}

/// A number as it stands, without separators, and with each kind of them.
fn number_forms(number: &str) -> Vec<String> {
    let bare: String = number.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let (whole, fraction) = match bare.split_once('.') {
        Some((whole, fraction)) if !fraction.contains('.') => (whole, Some(fraction)),
        _ => (bare.as_str(), None),
    };
    let mut forms = vec![number.to_owned(), bare.clone()];
    if whole.len() > 3 && !whole.contains('.') {
        for separator in [',', '_'] {
            let mut form = String::new();
            for (at, c) in whole.chars().enumerate() {
                if at > 0 && (whole.len() - at) % 3 == 0 {
                    form.push(separator);
                }
                form.push(c);
            }
            forms.push(fraction.map_or(form.clone(), |fraction| format!("{form}.{fraction}")));
        }
    }
    forms.dedup();
    forms
}

/// Whether a path without an ending goes on with one: imports name files so.
fn is_module(needle: &[u8], after: &[u8]) -> bool {
    let name = needle.rsplit(|byte| *byte == b'/').next().unwrap_or(needle);
    let ending = after.iter().skip(1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let ends = after.get(ending + 1).is_none_or(|byte| !is_word(*byte) && !matches!(byte, b'.' | b'-'));
    name.len() < needle.len() && !name.contains(&b'.') && (1..=5).contains(&ending) && ends
}

/// Whether a URL's host ends here, so that what follows is a route and no longer path.
fn is_host(before: &[u8]) -> bool {
    let of_host = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'-' | b'.' | b':');
    let host = before.iter().rev().take(HOST).take_while(of_host).count();
    host > 0 && before.get(..before.len() - host).is_some_and(|scheme| scheme.ends_with(b"://"))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl Ends {
    /// Whether a hit between `before` and `after` is a whole token.
    fn bound(self, before: &[u8], after: &[u8], needle: &[u8]) -> bool {
        let (left, right, second) = (before.last().copied(), after.first().copied(), after.get(1).copied());
        let opens_word = needle.first().copied().is_some_and(is_word);
        let closes_word = needle.last().copied().is_some_and(is_word);
        let word = |byte: Option<u8>| byte.is_some_and(is_word);
        let one_of = |byte: Option<u8>, set: &[u8]| byte.is_some_and(|byte| set.contains(&byte));
        match self {
            Self::Relative | Self::Absolute | Self::Behind => {
                let dotted = right == Some(b'.') && word(second) && !is_module(needle, after);
                let begins = match self {
                    Self::Absolute => !(word(left) || one_of(left, b"-./~")) || is_host(before),
                    Self::Relative => !(word(left) || one_of(left, b"-.")),
                    _ => true,
                };
                begins && !(word(right) || right == Some(b'-') || dotted)
            }
            Self::Free => true,
            Self::Command => {
                let ends =
                    right.is_none() || one_of(right, b" ';&|)]}>,") || right == Some(b'.') && !word(second);
                !word(left) && !one_of(left, b"-./") && ends
            }
            Self::Word => !(opens_word && word(left) || closes_word && word(right)),
            Self::Kebab => {
                let after_dash = right == Some(b'-') && word(second);
                !(word(left) || left == Some(b'-') || closes_word && word(right) || after_dash)
            }
            Self::Url => {
                let slash = right == Some(b'/') && (word(second) || one_of(second, b"-%?"));
                let dotted = one_of(right, b".:") && word(second);
                !(word(left) || word(right) || one_of(right, b"-?=&%~+") || slash || dotted)
            }
            // An abbreviated hash is the beginning of a longer one.
            Self::Hash => !word(left) && (!word(right) || right.is_some_and(|byte| byte.is_ascii_hexdigit())),
            Self::Number => number_ends(before, after),
        }
    }
}

/// A number may carry one letter in front (`L120`, `v120`) and a short unit behind (`120ms`).
fn number_ends(before: &[u8], after: &[u8]) -> bool {
    let mut left = before.iter().rev().copied();
    let first = left.next();
    let second = left.next();
    let left_ok = match first {
        None => true,
        Some(b'_') => false,
        Some(b'.') => !second.is_some_and(|byte| byte.is_ascii_digit()),
        Some(byte) if byte.is_ascii_digit() => false,
        Some(byte) if byte.is_ascii_alphabetic() => !second.is_some_and(is_word),
        Some(_) => true,
    };
    let unit = after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let behind = after.get(unit).copied();
    let right_ok = match after.first().copied() {
        None => true,
        Some(b'_') => false,
        Some(b'.') => !after.get(1).is_some_and(u8::is_ascii_digit),
        Some(byte) if byte.is_ascii_digit() => false,
        Some(byte) if byte.is_ascii_alphabetic() => {
            unit <= 3 && !behind.is_some_and(is_word) && !first.is_some_and(|byte| byte.is_ascii_alphabetic())
        }
        Some(_) => true,
    };
    left_ok && right_ok
}
