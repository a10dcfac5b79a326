//! What a worker sees of a draft: its outline, and a search in it.

use super::draft::Draft;
use super::refusal::TurnRefusal;
use super::tag::Kind;
use super::units::{lines, push_capped, shown, trimmed};

/// How many code points of a matching line a search shows.
const LINE_CAP: usize = 300;

/// What a worker is told of a draft: one line a segment, in order. Words are named by their beginning, process
/// by its calls and its size; `only` limits what is asked for to these ids.
#[must_use]
pub fn outline(draft: &Draft, only: &[u32]) -> String {
    let mut out = Vec::new();
    for part in draft.parts() {
        let tag = format!("<{}:{}>", part.kind.name(), part.id);
        let line = if only.contains(&part.id) {
            let names: Vec<String> = draft.sheet().called(&part.calls).map(shown).collect();
            format!("{tag} TO WRITE: {}{} characters", calls(&names), draft.points(part))
        } else if part.kind == Kind::Working {
            format!("{tag} finished")
        } else {
            format!("{tag} stays word for word: {}", beginning(&draft.current(part)))
        };
        out.push(line);
    }
    out.join("\n")
}

fn calls(names: &[String]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let shown: Vec<String> = counts
        .iter()
        .map(|(name, count)| if *count > 1 { format!("{name} x{count}") } else { (*name).to_owned() })
        .collect();
    if shown.is_empty() { String::new() } else { format!("calls of {}, ", shown.join(", ")) }
}

/// The first line of a text, short enough to recognise it by.
fn beginning(text: &[u16]) -> String {
    let first = shown(lines(trimmed(text)).next().unwrap_or(&[]));
    let mut cut: String = first.chars().take(80).collect();
    if cut.len() < first.len() || first.len() < shown(trimmed(text)).len() {
        cut.push_str(" ...");
    }
    // Quoted by JSON's rules, so that no text can end its own line.
    serde_json::to_string(&cut).unwrap_or_default()
}

/// Searches the draft's segments line by line with a linear-time pattern.
///
/// # Errors
/// [`TurnRefusal::BadPattern`].
pub fn grep(draft: &Draft, pattern: &str) -> Result<String, TurnRefusal> {
    let pattern =
        regex_lite::Regex::new(pattern).map_err(|error| TurnRefusal::BadPattern(error.to_string()))?;
    let mut out = String::new();
    for part in draft.parts() {
        let mut named = false;
        for (index, line) in lines(&draft.current(part)).enumerate() {
            if !pattern.is_match(&shown(line)) {
                continue;
            }
            if !named {
                out.push_str(&format!("<seg {}:{}>\n", part.kind.name(), part.id));
                named = true;
            }
            let mut capped = Vec::new();
            push_capped(&mut capped, line, LINE_CAP);
            out.push_str(&format!("  {}: {}\n", index + 1, shown(&capped)));
        }
    }
    if out.is_empty() {
        return Ok("no matches".to_owned());
    }
    out.truncate(out.trim_end_matches('\n').len());
    Ok(out)
}
