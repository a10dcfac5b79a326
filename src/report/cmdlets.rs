//! The cmdlets of PowerShell and their short names, as far as a ledger tells of them.

use super::effects::Change;
use super::shell::{Shell, Simple};
use super::text::is_one;

/// Parameters that take a value, in lower case; every other one is a switch.
const VALUED: &str = "-path -literalpath -destination -filepath -name -value -newname -encoding -itemtype -type -erroraction \
                      -ea -filter -include -exclude -inputobject -width -delimiter -target -method";

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
            if is_one(VALUED, &name)
                && let Some(value) = words.next()
            {
                this.named.push((name, value));
            }
        }
        this
    }

    /// The values of the first parameter of a list that is given, else the operand at `place`. A list has commas.
    #[inline(never)]
    fn files(&self, names: &str, place: usize) -> Vec<&'w str> {
        let named = self.named.iter().find(|(name, _)| is_one(names, name)).map(|(_, value)| *value);
        // A path that is given by name leaves the first operand to what comes after it.
        let by_name = self.named.iter().any(|(name, _)| is_one(PATH, name));
        let place = if by_name { place.saturating_sub(1) } else { place };
        let value = named.or_else(|| self.operands.get(place).copied()).unwrap_or_default();
        value.split(',').map(str::trim).filter(|file| !file.is_empty() && !file.starts_with('$')).collect()
    }

    fn value(&self, wanted: &str) -> Option<&'w str> {
        self.named.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value)
    }
}

const PATH: &str = "-path -literalpath -filepath";

const EFFECTS: &str = "start-service stop-service restart-service stop-process start-process install-module install-package \
                       uninstall-module publish-module";

#[inline(never)]
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
        let paths = words.files(PATH, 0);
        let name = self.cmdlet();
        if is_one(
            "set-content sc add-content ac clear-content out-file tee-object new-item ni export-csv",
            &name,
        ) {
            let name = words.value("-name").filter(|_| paths.is_empty());
            return all(Change::Written, name.map_or(paths, |name| vec![name]));
        }
        if is_one("remove-item ri rm del erase rd rmdir", &name) {
            return all(Change::Deleted, paths);
        }
        let to = words.files("-destination -newname", 1);
        if is_one("copy-item cpi cp copy", &name) {
            return all(Change::Written, to);
        }
        if is_one("move-item mi mv move rename-item rni ren", &name) {
            let mut changes = all(Change::Deleted, paths);
            changes.extend(all(Change::Moved, to));
            return changes;
        }
        Vec::new()
    }

    /// Whether a cmdlet does something that outlives the session and is more than a file of the workspace.
    pub(super) fn is_cmdlet_effect(&self) -> bool {
        let name = self.cmdlet();
        if is_one("invoke-restmethod irm invoke-webrequest iwr", &name) {
            let words = Words::of(&self.words);
            return words.value("-method").is_some_and(|method| !method.eq_ignore_ascii_case("get"));
        }
        is_one(EFFECTS, &name) || is_one("winget choco scoop", &name) && self.any("install uninstall upgrade")
    }

    pub(super) fn is_looking_cmdlet(&self) -> bool {
        let name = self.cmdlet();
        name.starts_with("get-")
            || is_one("gc gci dir type test-path resolve-path set-location write-output write-host", &name)
            || self.is_searching_cmdlet()
            || self.is_passing_cmdlet()
    }

    pub(super) fn is_searching_cmdlet(&self) -> bool {
        is_one("select-string sls findstr", &self.cmdlet())
    }

    pub(super) fn is_passing_cmdlet(&self) -> bool {
        is_one(
            "select-object select sort-object where-object format-table ft format-list fl out-string",
            &self.cmdlet(),
        )
    }

    /// The name of a cmdlet or its alias, in lower case as PowerShell compares it.
    #[inline(never)]
    fn cmdlet(&self) -> String {
        self.words.first().map(|word| word.to_ascii_lowercase()).unwrap_or_default()
    }
}
