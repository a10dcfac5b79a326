//! The cmdlets of PowerShell and their short names, as far as a ledger tells of them.

use super::effects::Change;
use super::shell::{Shell, Simple};

/// Parameters that take a value, in lower case; every other one is a switch.
const VALUED: [&str; 20] = [
    "-path",
    "-literalpath",
    "-destination",
    "-filepath",
    "-name",
    "-value",
    "-newname",
    "-encoding",
    "-itemtype",
    "-type",
    "-erroraction",
    "-ea",
    "-filter",
    "-include",
    "-exclude",
    "-inputobject",
    "-width",
    "-delimiter",
    "-target",
    "-method",
];

/// The words of a cmdlet: operands in order, and parameters with their values.
struct Words<'w> {
    operands: Vec<&'w str>,
    named: Vec<(String, &'w str)>,
}

impl<'w> Words<'w> {
    fn of(words: &'w [String]) -> Self {
        let mut this = Self { operands: Vec::new(), named: Vec::new() };
        let mut words = words.iter().skip(1).map(String::as_str);
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                this.operands.push(word);
                continue;
            }
            let name = word.to_ascii_lowercase();
            if VALUED.contains(&name.as_str())
                && let Some(value) = words.next()
            {
                this.named.push((name, value));
            }
        }
        this
    }

    /// The values of the first of these parameters that is given, else the operand at `place`. A list has commas.
    fn files(&self, names: &[&str], place: usize) -> Vec<&'w str> {
        let named =
            self.named.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| *value);
        let before = names.iter().any(|name| *name == "-destination" || *name == "-newname");
        // A path that is given by name leaves the first operand to what comes after it.
        let place = if before && self.has_path() { place.saturating_sub(1) } else { place };
        let value = named.or_else(|| self.operands.get(place).copied()).unwrap_or_default();
        value.split(',').map(str::trim).filter(|file| !file.is_empty() && !file.starts_with('$')).collect()
    }

    fn has_path(&self) -> bool {
        self.named.iter().any(|(name, _)| PATH.contains(&name.as_str()))
    }

    fn value(&self, wanted: &str) -> Option<&'w str> {
        self.named.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value)
    }
}

const PATH: [&str; 3] = ["-path", "-literalpath", "-filepath"];

fn all(change: Change, files: Vec<&str>) -> Vec<(Change, &str)> {
    files.into_iter().map(|file| (change, file)).collect()
}

impl Simple<'_> {
    /// Files that a cmdlet changed, as it names them.
    pub(super) fn cmdlet_changes(&self) -> Vec<(Change, &str)> {
        if self.shell != Shell::Power {
            return Vec::new();
        }
        let words = Words::of(&self.words);
        let paths = || words.files(&PATH, 0);
        match self.cmdlet().as_str() {
            "set-content" | "sc" | "add-content" | "ac" | "clear-content" | "out-file" | "tee-object"
            | "new-item" | "ni" | "export-csv" => {
                let name = words.value("-name").filter(|_| paths().is_empty());
                name.map_or_else(|| all(Change::Written, paths()), |name| vec![(Change::Written, name)])
            }
            "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" => all(Change::Deleted, paths()),
            "move-item" | "mi" | "mv" | "move" | "rename-item" | "rni" | "ren" => {
                let mut changes = all(Change::Deleted, paths());
                changes.extend(all(Change::Moved, words.files(&["-destination", "-newname"], 1)));
                changes
            }
            "copy-item" | "cpi" | "cp" | "copy" => all(Change::Written, words.files(&["-destination"], 1)),
            _ => Vec::new(),
        }
    }

    /// Whether a cmdlet does something that outlives the session and is more than a file of the workspace.
    pub(super) fn is_cmdlet_effect(&self) -> bool {
        match self.cmdlet().as_str() {
            "invoke-restmethod" | "irm" | "invoke-webrequest" | "iwr" => {
                let words = Words::of(&self.words);
                words.value("-method").is_some_and(|method| !method.eq_ignore_ascii_case("get"))
            }
            "start-service" | "stop-service" | "restart-service" | "stop-process" | "start-process"
            | "install-module" | "install-package" | "uninstall-module" | "publish-module" => true,
            "winget" | "choco" | "scoop" => self
                .words
                .iter()
                .skip(1)
                .any(|word| matches!(word.as_str(), "install" | "uninstall" | "upgrade")),
            _ => false,
        }
    }

    pub(super) fn is_looking_cmdlet(&self) -> bool {
        let name = self.cmdlet();
        name.starts_with("get-")
            || matches!(
                name.as_str(),
                "gc" | "gci"
                    | "dir"
                    | "type"
                    | "test-path"
                    | "resolve-path"
                    | "set-location"
                    | "write-output"
                    | "write-host"
            )
            || self.is_searching_cmdlet()
            || self.is_passing_cmdlet()
    }

    pub(super) fn is_searching_cmdlet(&self) -> bool {
        matches!(self.cmdlet().as_str(), "select-string" | "sls" | "findstr")
    }

    pub(super) fn is_passing_cmdlet(&self) -> bool {
        matches!(
            self.cmdlet().as_str(),
            "select-object"
                | "select"
                | "sort-object"
                | "where-object"
                | "format-table"
                | "ft"
                | "format-list"
                | "fl"
                | "out-string"
        )
    }

    /// The name of a cmdlet or its alias, in lower case as PowerShell compares it.
    fn cmdlet(&self) -> String {
        self.words.first().map(|word| word.to_ascii_lowercase()).unwrap_or_default()
    }
}
