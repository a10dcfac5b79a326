//! What a piece of prose looks like: a path, a hash, a command, words about an error.

use super::claims::ClaimKind;
use super::text::is_one;

/// The shape of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A claim as it stands.
    Of(ClaimKind),
    /// A path with a line behind it.
    Located,
    Number,
}

pub(super) fn shape(token: &str) -> Option<Shape> {
    if token.contains("://") {
        return Some(Shape::Of(ClaimKind::Url));
    }
    if is_hash(token) {
        return Some(Shape::Of(ClaimKind::Hash));
    }
    if token.starts_with(|c: char| c.is_ascii_digit())
        && token.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'_' | b'%'))
    {
        return Some(Shape::Number);
    }
    let (path, located) = match token.find([':', '#']) {
        Some(at) => {
            let tail = token.get(at + 1..).unwrap_or_default().trim_start_matches('L');
            (token.get(..at).unwrap_or_default(), tail.starts_with(|c: char| c.is_ascii_digit()))
        }
        None => (token, false),
    };
    if located && is_path(path) {
        return Some(Shape::Located);
    }
    is_path(token).then_some(Shape::Of(ClaimKind::Path))
}

/// Seven to sixty-four lower-case hexadecimal digits, with a letter and a digit among them.
fn is_hash(token: &str) -> bool {
    let digits = token.strip_prefix("0x").unwrap_or(token);
    (7..=64).contains(&digits.len())
        && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_path(token: &str) -> bool {
    let legal = |c: char| {
        c.is_alphanumeric() || matches!(c, '/' | '\\' | '.' | '_' | '-' | '~' | '@' | '+' | '*' | '$')
    };
    let separated = token.contains('/') || token.contains('\\');
    // `C:\` is the one place where a colon belongs.
    let body = token
        .get(..2)
        .filter(|drive| drive.ends_with(':'))
        .map_or(token, |_| token.get(2..).unwrap_or_default());
    let named = token.chars().any(char::is_alphanumeric);
    named && !body.is_empty() && body.chars().all(legal) && (separated || has_extension(token))
}

/// Whether a token outside of backticks is a path and not two words with a slash between them.
pub(super) fn is_sure_path(token: &str) -> bool {
    // A date or a score.
    if token.split('/').all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    let anchored = ["/", "./", "../", "~/"].iter().any(|start| token.starts_with(start)) && token.len() > 3;
    let deep = token.matches(['/', '\\']).count() >= 2 && !token.contains("//");
    let last = token.rsplit(['/', '\\']).next().unwrap_or(token);
    if !token.contains(['/', '\\']) {
        // `Node.js` and `e.g.` are words.
        let product =
            token.strip_suffix(".js").is_some_and(|stem| stem.starts_with(|c: char| c.is_ascii_uppercase()));
        return has_extension(token) && !product;
    }
    anchored || deep || has_extension(last) || token.ends_with('/')
}

const EXTENSIONS: &str = "\
    rs js mjs cjs ts mts cts tsx jsx vue svelte py pyi ipynb go java kt kts scala rb php c h cc cpp \
    hpp cs swift m mm ex exs erl hs ml lua r jl dart zig sql sh bash ps1 bat html css scss less xml \
    json jsonl json5 yaml yml toml ini cfg conf env lock md mdx rst txt csv tsv log proto graphql tf \
    gradle svg png snap pdf";

fn has_extension(token: &str) -> bool {
    let name = token.rsplit(['/', '\\']).next().unwrap_or(token);
    match name.rsplit_once('.') {
        Some((stem, extension)) => !stem.is_empty() && is_one(EXTENSIONS, &extension.to_ascii_lowercase()),
        None => false,
    }
}

/// Programs that open a command line.
const PROGRAMS: &str = "\
    npm npx pnpm yarn bun node deno tsc jest vitest eslint cargo rustc rustup go gofmt python \
    python3 pip pip3 pytest uv poetry ruff mypy tox make cmake ninja gcc clang mvn gradle java javac \
    dotnet git gh docker docker-compose kubectl helm terraform curl wget ssh scp rsync ls cat grep \
    rg find fd sed awk head tail cd rm mv cp mkdir touch chmod mix bundle rake rails php composer \
    psql";

pub(super) fn is_command(text: &str) -> bool {
    let mut words = text.split_whitespace().skip_while(|word| {
        *word == "sudo"
            || word
                .split_once('=')
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    });
    let Some(first) = words.next() else { return false };
    let program = first.rsplit('/').next().unwrap_or(first);
    let has_more = words.next().is_some();
    has_more && (is_one(PROGRAMS, program) || first.starts_with("./"))
}

/// Words that only failures use, in both languages.
pub(super) fn speaks_of_error(text: &str) -> bool {
    const WORDS: [&str; 20] = [
        "error",
        "exception",
        "failed",
        "failure",
        "fatal",
        "cannot",
        "can't",
        "could not",
        "not found",
        "no such",
        "denied",
        "undefined",
        "panic",
        "timed out",
        "unexpected",
        "invalid",
        "错误",
        "失败",
        "无法",
        "找不到",
    ];
    let lower = text.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word)) || names_a_type(text)
}

/// `java.io.Something: reason`: a message that opens with the name of what was thrown.
fn names_a_type(text: &str) -> bool {
    let Some(name) = text.split_whitespace().next().and_then(|word| word.strip_suffix(':')) else {
        return false;
    };
    let inside = name.chars().skip(1).any(|c| c.is_ascii_uppercase() || c == '.');
    inside && name.len() > 3 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_')
}

/// `<name>`: a slot to be filled in, not a claim.
pub(super) fn is_slot(span: &str) -> bool {
    span.split_once('<').and_then(|(_, rest)| rest.split_once('>')).is_some_and(|(slot, _)| {
        !slot.is_empty() && slot.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_' || c == ' ')
    })
}

/// Scripts without spaces between words, and their punctuation.
pub(super) fn is_wide(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{A4CF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
        || matches!(c, '—' | '–' | '…' | '“' | '”' | '‘' | '’' | '→' | '·' | '|')
}

pub(super) fn trimmed_end(text: &str) -> &str {
    text.trim_end_matches(['.', ',', ';', ':', '!', '?', '。', '，', '；', '：', '-'])
}
