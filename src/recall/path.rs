//! Does a call name a path? Decided on its arguments, by path components and not by substrings.

use serde_json::Value;

/// A path asked for, in the form that arguments are compared in.
#[derive(Debug, Clone)]
pub(super) struct Path(String);

impl Path {
    /// `None` for a path without a name in it.
    pub(super) fn new(path: &str) -> Option<Self> {
        let path = normal(path.trim());
        let path = path.trim_end_matches('/');
        (!path.is_empty() && path != ".").then(|| Self(path.to_owned()))
    }

    /// Whether the arguments name this path, something below it, or it from another root.
    pub(super) fn named_in(&self, arguments: &str) -> bool {
        match serde_json::from_str(arguments) {
            Ok(value) => self.in_value(&value),
            Err(_) => self.in_text(&normal(arguments)),
        }
    }

    fn in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                let text = normal(text);
                self.in_text(&text) || self.ends_with(&text)
            }
            Value::Array(values) => values.iter().any(|value| self.in_value(value)),
            Value::Object(fields) => fields.values().any(|value| self.in_value(value)),
            _ => false,
        }
    }

    /// The path asked for is absolute and the argument is the same one, relative.
    fn ends_with(&self, text: &str) -> bool {
        let relative = !text.is_empty() && !text.contains(char::is_whitespace);
        relative && self.0.strip_suffix(text).is_some_and(|rest| rest.ends_with('/'))
    }

    fn in_text(&self, text: &str) -> bool {
        text.match_indices(&self.0).any(|(start, found)| {
            let before = text.get(..start).unwrap_or_default().chars().next_back();
            let mut after = text.get(start + found.len()..).unwrap_or_default().chars();
            let ends = match after.next() {
                // A dot ends a sentence or begins an extension, which makes another file of it.
                Some('.') => !after.next().is_some_and(is_word),
                next => !next.is_some_and(is_word),
            };
            // Before a relative path a slash is a longer path's; an absolute one begins with its own.
            let starts = before.is_none_or(|before| !is_word(before) && before != '.');
            starts && ends
        })
    }
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-')
}

fn normal(path: &str) -> String {
    let slashes = path.replace('\\', "/");
    slashes.strip_prefix("./").unwrap_or(&slashes).to_owned()
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn paths_are_found_by_components() {
        let cases = [
            ("src/a.rs", r#"{"path":"src/a.rs"}"#, true),
            ("./src/a.rs", r#"{"path":"/home/x/src/a.rs","offset":3}"#, true),
            ("/home/x/src/a.rs", r#"{"path":"src/a.rs"}"#, true),
            ("src", r#"{"path":"src/a.rs"}"#, true),
            ("src/", r#"{"command":"ls src && cat README"}"#, true),
            ("a.rs", r#"{"command":"cat 'src/a.rs' | head"}"#, true),
            ("src/a.rs", r#"{"path":"src\\a.rs"}"#, true),
            ("src/a.rs", r#"{"paths":["b",{"p":"src/a.rs."}]}"#, true),
            ("src/a.rs", r#"{"path":"src/a.rs.bak"}"#, false),
            ("src/a.r", r#"{"path":"src/a.rs"}"#, false),
            ("rc/a.rs", r#"{"path":"src/a.rs"}"#, false),
            ("a.rs", r#"{"path":"src/ba.rs"}"#, false),
            ("a", r#"{"path":"a-b"}"#, false),
            ("a", r#"{"path":"a_b"}"#, false),
            ("/home/x/src/a.rs", r#"{"path":"rc/a.rs"}"#, false),
            ("src/a.rs", "cat src/a.rs", true),
            ("src/a.rs", r#"{"path": 7}"#, false),
            ("文.md", r#"{"path":"docs/文.md"}"#, true),
        ];
        for (path, arguments, named) in cases {
            assert_eq!(Path::new(path).unwrap().named_in(arguments), named, "{path} in {arguments}");
        }
        assert!(Path::new("  ").is_none() && Path::new("./").is_none() && Path::new("/").is_none());
    }
}
