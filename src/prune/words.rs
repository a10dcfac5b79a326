//! Words that tell a result apart: the path it is about, and identifiers that stand nowhere by chance
//! (docs/prune.md 3.2).

/// A distinctive identifier has at least so many characters.
const IDENTIFIER_CHARS: usize = 8;

/// One spelling of a path: `/` between its parts, no `./` in front, no `/` behind.
pub(super) fn normalize_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.trim().chars() {
        let c = if c == '\\' { '/' } else { c };
        if !(c == '/' && out.ends_with('/')) {
            out.push(c);
        }
    }
    while let Some(rest) = out.strip_prefix("./") {
        out = rest.to_owned();
    }
    if out.len() > 1 && out.ends_with('/') {
        out.pop();
    }
    out
}

/// The last part of a path in either spelling, which a word must be to name it.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// The words of a text that may be paths: what stands between white space, quotes and brackets.
pub(super) fn path_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;=|*".contains(c))
}

/// The distinctive identifiers of a text: at least eight letters, digits and underscores with a digit, an
/// underscore or a capital inside.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut from = 0;
    text.as_bytes().split(ends).filter_map(move |word| {
        let start = from;
        from += word.len() + 1;
        // Words are ASCII, so their edges are edges of characters.
        if is_distinctive(word) { text.get(start..start + word.len()) } else { None }
    })
}

fn is_distinctive(word: &[u8]) -> bool {
    let tells = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
    word.len() >= IDENTIFIER_CHARS
        && (word.iter().any(tells)
            || word.windows(2).any(|pair| {
                matches!(pair, [before, byte] if before.is_ascii_lowercase() && byte.is_ascii_uppercase())
            }))
}
