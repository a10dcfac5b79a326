//! The one-line texts that land beside a report (docs/rewind.md 1.3, 1.6).

use super::language::Language;

/// The line an earlier segment becomes.
#[must_use]
pub fn pointer(mark: &str, language: Language) -> String {
    match language {
        Language::En => format!("[steps of mark {mark} folded; their report stands below]"),
        Language::Zh => format!("[标记 {mark} 的步骤已折叠；报告见下文]"),
    }
}

/// The line a rewritten sibling's content becomes.
#[must_use]
pub fn sibling(mark: &str, language: Language) -> String {
    match language {
        Language::En => format!("[result folded; see the rewind report of mark {mark} below]"),
        Language::Zh => format!("[结果已折叠；见下文标记 {mark} 的报告]"),
    }
}
