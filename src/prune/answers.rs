//! Reading a model's answer to the questions (docs/prune.md 3.2, judge `llm`).

use crate::event::json_of;
use crate::sorted::inserted;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;

/// What an answer held.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answers {
    /// Value of each answered question, by its place in the list of ids, 0 to 1.
    pub answers: BTreeMap<usize, f64>,
    /// Places of the questions without a valid answer.
    pub missing: Vec<usize>,
    /// One sentence for every answer that was given and refused.
    pub violations: Vec<String>,
}

/// Reads `text` as answers to `ids`: one flat JSON object, or `id=<0..100>` entries (`id: 40` too), with
/// or without fences and prose around them. Unknown ids are ignored; of a repeated id the first counts.
#[must_use]
pub fn parse_answers(text: &str, ids: &[&str]) -> Answers {
    let places: BTreeMap<&str, usize> =
        inserted(ids.iter().enumerate().map(|(place, id)| (*id, place)).rev());
    let mut found = Found { places, answers: BTreeMap::new(), refused: BTreeMap::new() };
    for entry in first_object(text).unwrap_or_default() {
        found.take(&entry.0, &entry.1);
    }
    if found.is_empty() {
        found.scan(text);
    }
    let missing = (0..ids.len()).filter(|place| !found.answers.contains_key(place)).collect();
    let violations = found
        .refused
        .iter()
        .map(|(place, given)| {
            let id = ids.get(*place).copied().unwrap_or_default();
            format!("{id} must be a whole number from 0 to 100, but it was {given}")
        })
        .collect();
    Answers { answers: found.answers, missing, violations }
}

/// A value of a judge that answers in numbers: clamped to 0 to 1, dropped when it is not finite.
#[must_use]
pub fn clamp_probability(value: f64) -> Option<f64> {
    value.is_finite().then(|| value.clamp(0.0, 1.0))
}

struct Found<'a> {
    places: BTreeMap<&'a str, usize>,
    answers: BTreeMap<usize, f64>,
    refused: BTreeMap<usize, String>,
}

impl Found<'_> {
    fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.refused.is_empty()
    }

    /// The first entry of an id decides, valid or not.
    fn take(&mut self, id: &str, given: &str) {
        let Some(&place) = self.places.get(id) else { return };
        if self.answers.contains_key(&place) || self.refused.contains_key(&place) {
            return;
        }
        match given.parse::<f64>() {
            Ok(value) if value.fract() == 0.0 && (0.0..=100.0).contains(&value) => {
                self.answers.insert(place, value / 100.0);
            }
            _ => {
                let shown =
                    if given.is_empty() { "no number".to_owned() } else { super::text::clip(given, 40) };
                self.refused.insert(place, shown);
            }
        }
    }

    /// Entries `id = number`, wherever they stand; quotes around the id or the number are allowed.
    fn scan(&mut self, text: &str) {
        let mut rest = text;
        while let Some(start) = rest.find(is_word) {
            let tail = rest.get(start..).unwrap_or_default();
            let end = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
            let (word, after) = tail.split_at(end);
            rest = after;
            if self.places.contains_key(word) {
                let value = after.trim_start_matches(['"', '\'', '`', '*', ' ', '\t']);
                if let Some(value) = value.strip_prefix(['=', ':']) {
                    let value = value.trim_start_matches(['"', '\'', '`', '*', '<', ' ', '\t']);
                    let end = value.find(|c: char| !is_number(c)).unwrap_or(value.len());
                    self.take(word, value.get(..end).unwrap_or_default().trim_end_matches('.'));
                }
            }
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_number(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+')
}

/// The entries of the first balanced object, in the order they were written; numbers and texts as text.
fn first_object(text: &str) -> Option<Vec<(String, String)>> {
    let mut from = 0;
    while let Some(open) = text.get(from..)?.find('{') {
        let start = from + open;
        let body = text.get(start..)?;
        if let Some(Ok(entries)) = serde_json::Deserializer::from_str(body).into_iter::<Entries>().next() {
            return Some(entries.0);
        }
        from = start + 1;
    }
    None
}

/// A JSON object that remembers order and repeats, which a map does not.
struct Entries(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Walk;
        impl<'de> Visitor<'de> for Walk {
            type Value = Entries;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    let shown = match map.next_value::<Value>()? {
                        Value::String(text) => text,
                        other => json_of(&other),
                    };
                    entries.push((key, shown));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Walk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const IDS: [&str; 3] = ["result_s1", "effect_s1", "result_s12"];

    fn values(text: &str) -> Vec<Option<f64>> {
        let found = parse_answers(text, &IDS);
        (0..IDS.len()).map(|place| found.answers.get(&place).copied()).collect()
    }

    #[test]
    fn input_31_lines_and_objects() {
        let wanted = vec![Some(0.8), Some(0.0), Some(1.0)];
        for text in [
            "result_s1=80\neffect_s1=0\nresult_s12=100",
            "result_s1: 80\neffect_s1 = 0%\nresult_s12 : 100, sure",
            r#"{"result_s1": 80, "effect_s1": 0, "result_s12": 100}"#,
            "```json\n{\"result_s1\": 80, \"effect_s1\": \"0\", \"result_s12\": 100.0}\n```",
            "Here you are:\n{\"result_s1\":80,\"effect_s1\":0,\"result_s12\":100}\nHope {that} helps.",
            "- **result_s1**: 80.\n- `effect_s1` = `0`\n- \"result_s12\": <100>",
        ] {
            assert_eq!(values(text), wanted, "{text}");
        }
    }

    #[test]
    fn input_31_missing_ids_are_named() {
        let found = parse_answers("result_s12=5", &IDS);
        assert_eq!(found.missing, [0, 1]);
        assert_eq!(found.violations, Vec::<String>::new());
        assert_eq!(values("result_s120=5 xresult_s1=9 result_s1x=7"), [None, None, None]);
    }

    #[test]
    fn input_31_a_partial_object_is_read_as_entries() {
        assert_eq!(values(r#"{"result_s1": 80, "effect_s1": 2, "resu"#), [Some(0.8), Some(0.02), None]);
    }

    #[test]
    fn input_31_out_of_range_and_non_numeric_are_violations() {
        let found = parse_answers("result_s1=1.7\neffect_s1=170\nresult_s12=NaN", &IDS);
        assert!(found.answers.is_empty());
        assert_eq!(
            found.violations,
            [
                "result_s1 must be a whole number from 0 to 100, but it was 1.7",
                "effect_s1 must be a whole number from 0 to 100, but it was 170",
                "result_s12 must be a whole number from 0 to 100, but it was NaN",
            ]
        );
        assert_eq!(parse_answers("result_s1=-1 effect_s1= high", &IDS).violations.len(), 2);
        assert_eq!(parse_answers(r#"{"result_s1": null, "effect_s1": [3]}"#, &IDS).violations.len(), 2);
    }

    #[test]
    fn input_31_of_duplicates_the_first_counts() {
        assert_eq!(values("result_s1=10\nresult_s1=90")[0], Some(0.1));
        assert_eq!(values(r#"{"result_s1": 10, "result_s1": 90}"#)[0], Some(0.1));
        assert_eq!(values("result_s1=170\nresult_s1=90")[0], None);
    }

    #[test]
    fn numbers_of_a_judge_are_clamped_or_dropped() {
        assert_eq!(clamp_probability(1.7), Some(1.0));
        assert_eq!(clamp_probability(-0.2), Some(0.0));
        assert_eq!(clamp_probability(f64::NAN), None);
        assert_eq!(clamp_probability(f64::INFINITY), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in any::<String>()) {
            let found = parse_answers(&text, &IDS);
            prop_assert_eq!(found.answers.len() + found.missing.len(), IDS.len());
        }

        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(0u8..=100, 1..20), noise in "[a-z ]{0,20}") {
            let ids: Vec<String> = (0..values.len()).map(|at| format!("result_s{at}")).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let lines: Vec<String> = ids.iter().zip(&values).map(|(id, value)| format!("{id}={value}")).collect();
            let found = parse_answers(&format!("{noise}\n{}", lines.join("\n")), &ids);
            prop_assert_eq!(found.missing, Vec::<usize>::new());
            for (place, value) in values.iter().enumerate() {
                prop_assert_eq!(found.answers.get(&place).copied(), Some(f64::from(*value) / 100.0));
            }
        }
    }
}
