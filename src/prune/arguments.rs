//! A call's arguments as a receipt states them (docs/prune.md 3.6): what tells the call apart, on one line.

use super::text::{clip, count_points, one_line};
use crate::event::json_of;
use serde_json::{Map, Value};

/// The keys that say most about a call, in this order.
const FIRST: [&str; 8] = ["command", "file_path", "notebook_path", "pattern", "query", "path", "url", "glob"];
/// At most so many of them are shown.
const FIRST_SHOWN: usize = 3;
/// Keys that hold text the call wrote or was told, not what it was about.
const SKIPPED: [&str; 5] = ["content", "old_string", "new_string", "prompt", "description"];
/// Other values are shown up to so many code points.
const OTHER_CHARS: usize = 40;

/// The arguments on one line of at most `max` code points; empty when there is nothing to say. Arguments that
/// are no JSON object are shown as they are.
#[must_use]
pub fn shown(arguments: &str, max: usize) -> String {
    let line = match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(fields)) => of_fields(&fields),
        _ => one_line(arguments),
    };
    clip(&line, max)
}

fn of_fields(fields: &Map<String, Value>) -> String {
    let mut parts: Vec<String> = Vec::new();
    for key in FIRST {
        let Some(value) = fields.get(key).and_then(rendered) else { continue };
        if parts.len() < FIRST_SHOWN {
            parts.push(if parts.is_empty() { value } else { format!("{key}={value}") });
        }
    }
    for (key, value) in fields {
        if FIRST.contains(&key.as_str()) || SKIPPED.contains(&key.as_str()) {
            continue;
        }
        if let Some(value) = rendered(value).filter(|value| count_points(value) <= OTHER_CHARS) {
            parts.push(format!("{}={value}", one_line(key)));
        }
    }
    parts.join(" ")
}

fn rendered(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => one_line(text),
        other => one_line(&json_of(other)),
    };
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_tells_a_call_apart_comes_first() {
        assert_eq!(shown(r#"{"file_path":"C:\\a\\state.js"}"#, 120), r"C:\a\state.js");
        assert_eq!(
            shown(r#"{"path":"src","pattern":"TODO","-n":true,"glob":"*.rs","url":"u"}"#, 120),
            "TODO path=src url=u -n=true"
        );
        assert_eq!(shown(r#"{"limit":20,"offset":100,"path":"a.rs"}"#, 120), "a.rs limit=20 offset=100");
    }

    #[test]
    fn long_and_written_values_are_left_out() {
        let arguments =
            r#"{"path":"a","content":"x","prompt":"y","note":"0123456789012345678901234567890123456789+"}"#;
        assert_eq!(shown(arguments, 120), "a");
        assert_eq!(shown(r#"{"description":"d","list":[1,2],"none":null,"empty":""}"#, 120), "list=[1,2]");
    }

    #[test]
    fn what_is_no_object_is_shown_as_it_is() {
        assert_eq!(shown("ls\n-la", 120), "ls -la");
        assert_eq!(shown("", 120), "");
        assert_eq!(shown("{}", 120), "");
        assert_eq!(shown("[1,\n2", 120), "[1, 2");
    }

    proptest! {
        #[test]
        fn arguments_stay_on_one_line(arguments in any::<String>(), max in 0usize..150) {
            let line = shown(&arguments, max);
            prop_assert!(count_points(&line) <= max && !line.contains('\n'));
        }

        #[test]
        fn values_stay_on_one_line(key in any::<String>(), value in any::<String>(), max in 0usize..150) {
            let line = shown(&serde_json::json!({ key: value.clone(), "command": value }).to_string(), max);
            prop_assert!(count_points(&line) <= max && !line.chars().any(char::is_control));
        }
    }
}
