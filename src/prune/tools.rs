//! Tool names: which are known to read only, which to write (docs/prune.md 3.3).

use super::text::normalize_tool;
use crate::sorted::inserted;
use std::collections::BTreeSet;

/// Tools that read and change nothing. Shells and code runners are absent on purpose: nothing tells what
/// they did.
pub const READ_ONLY: [&str; 25] = [
    "read",
    "view",
    "cat",
    "glob",
    "grep",
    "list",
    "ls",
    "search",
    "find",
    "tree",
    "stat",
    "fetch",
    "web_search",
    "web_fetch",
    "get-content",
    "get-childitem",
    "get-item",
    "get-itemproperty",
    "get-location",
    "get-command",
    "get-help",
    "select-string",
    "test-path",
    "resolve-path",
    "measure-object",
];

/// Tools that write.
pub const WRITE: [&str; 17] = [
    "write",
    "edit",
    "multi_edit",
    "str_replace_editor",
    "str_replace",
    "create",
    "insert",
    "append",
    "apply_patch",
    "patch",
    "notebook_edit",
    "delete",
    "remove",
    "rename",
    "move",
    "copy",
    "mkdir",
];

/// What a tool is known to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Reads only.
    ReadOnly,
    /// Nobody knows: shells, code, everything unnamed.
    Unknown,
    /// Writes.
    Write,
}

/// The lists of one configuration, compared without case, `_` and `-`.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    read_only: BTreeSet<String>,
    write: BTreeSet<String>,
    compact: BTreeSet<String>,
    never_compact: BTreeSet<String>,
    never_prune: BTreeSet<String>,
}

impl Tools {
    /// Reads the three lists. A name in an allowing and a denying list is denied.
    #[must_use]
    pub fn new<S: AsRef<str>>(compact: &[S], never_compact: &[S], never_prune: &[S]) -> Self {
        Self {
            read_only: keys(&READ_ONLY),
            write: keys(&WRITE),
            compact: keys(compact),
            never_compact: keys(never_compact),
            never_prune: keys(never_prune),
        }
    }

    /// What the tool named by `key` (normalized) does: a name the configuration denies receipts counts as
    /// writing, a name it allows as reading only.
    #[must_use]
    pub fn class(&self, key: &str) -> Class {
        if self.write.contains(key) || self.never_compact.contains(key) {
            Class::Write
        } else if self.read_only.contains(key) || self.compact.contains(key) {
            Class::ReadOnly
        } else {
            Class::Unknown
        }
    }

    /// Whether receipts may take results of this tool. An empty allow list leaves the deny list alone to
    /// decide.
    #[must_use]
    pub fn may_compact(&self, key: &str) -> bool {
        !self.never_compact.contains(key) && (self.compact.is_empty() || self.compact.contains(key))
    }

    /// Whether bodies of this tool are never cut.
    #[must_use]
    pub fn never_prune(&self, key: &str) -> bool {
        self.never_prune.contains(key)
    }
}

fn keys<S: AsRef<str>>(names: &[S]) -> BTreeSet<String> {
    inserted(names.iter().map(|name| normalize_tool(name.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_24_shells_and_code_are_never_moved_by_default() {
        let tools = Tools::new(&READ_ONLY, &WRITE, &["Write", "NotebookEdit"]);
        for name in ["pwsh", "bash", "run_code"] {
            assert!(!tools.may_compact(&normalize_tool(name)), "{name}");
            assert_eq!(tools.class(&normalize_tool(name)), Class::Unknown);
        }
        assert!(tools.may_compact(&normalize_tool("Web_Fetch")));
        assert!(tools.never_prune("notebookedit"));
    }

    #[test]
    fn input_24_deny_wins_and_ignores_spelling() {
        let tools = Tools::new(&["edit", "MultiEdit", "my_reader"], &["Edit", "multi_edit"], &[]);
        assert!(!tools.may_compact("edit"));
        assert!(!tools.may_compact("multiedit"));
        assert!(tools.may_compact("myreader"));
        assert_eq!(tools.class("myreader"), Class::ReadOnly);
    }

    #[test]
    fn an_empty_allow_list_leaves_the_deny_list() {
        let tools = Tools::new(&[], &["write"], &[]);
        assert!(tools.may_compact("bash"));
        assert!(!tools.may_compact("write"));
    }
}
