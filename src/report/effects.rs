//! What a simple command did: files it changed, effects that outlive the session, or nothing but looking.

use super::shell::Simple;

/// How a command changed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Written, created or edited.
    Written,
    /// Removed.
    Deleted,
    /// Moved or renamed to this name.
    Moved,
}

impl Simple<'_> {
    fn program(&self) -> &str {
        let first = self.words.first().map_or("", String::as_str);
        first.rsplit('/').next().unwrap_or(first)
    }

    fn operands(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    /// Files the command changed, as it names them.
    #[must_use]
    pub fn changes(&self) -> Vec<(Change, &str)> {
        let mut changes: Vec<(Change, &str)> =
            self.writes.iter().map(|file| (Change::Written, file.as_str())).collect();
        let in_place = || self.words.iter().any(|word| word.starts_with("-i") || word == "--in-place");
        match self.program() {
            "tee" | "touch" | "truncate" => {
                changes.extend(self.operands().map(|file| (Change::Written, file)))
            }
            "rm" | "unlink" => changes.extend(self.operands().map(|file| (Change::Deleted, file))),
            "mv" | "cp" | "ln" => {
                let moved = self.program() == "mv";
                let names: Vec<&str> = self.operands().collect();
                if let Some((to, from)) = names.split_last()
                    && !from.is_empty()
                {
                    if moved {
                        changes.extend(from.iter().map(|file| (Change::Deleted, *file)));
                    }
                    changes.push((if moved { Change::Moved } else { Change::Written }, to));
                }
            }
            "sed" | "perl" if in_place() => {
                changes
                    .extend(self.operands().filter(|word| is_file(word)).map(|file| (Change::Written, file)));
            }
            "git" if matches!(self.words.get(1).map(String::as_str), Some("rm" | "mv")) => {
                let files: Vec<&str> = self.operands().skip(1).collect();
                match (self.words.get(1).map(String::as_str), files.split_last()) {
                    (Some("mv"), Some((to, from))) => {
                        changes.extend(from.iter().map(|file| (Change::Deleted, *file)));
                        changes.push((Change::Moved, to));
                    }
                    _ => changes.extend(files.into_iter().map(|file| (Change::Deleted, file))),
                }
            }
            _ => {}
        }
        changes
    }

    /// Whether the command does something that outlives the session and is more than a file of the workspace:
    /// a commit, a push, a publication, a request that writes, a package, a service.
    #[must_use]
    pub fn has_effect(&self) -> bool {
        let sub = self.operands().next().unwrap_or_default();
        let second = self.operands().nth(1).unwrap_or_default();
        let any = |words: &[&str]| self.words.iter().any(|word| words.contains(&word.as_str()));
        match self.program() {
            "git" => GIT.contains(&sub),
            "gh" | "glab" => {
                matches!(
                    second,
                    "create"
                        | "merge"
                        | "close"
                        | "edit"
                        | "comment"
                        | "delete"
                        | "reopen"
                        | "review"
                        | "upload"
                        | "run"
                ) || any(&["POST", "PUT", "PATCH", "DELETE"])
            }
            "npm" | "pnpm" | "yarn" | "bun" => {
                matches!(
                    sub,
                    "install" | "i" | "add" | "remove" | "uninstall" | "ci" | "publish" | "link" | "update"
                )
            }
            "pip" | "pip3" | "uv" | "poetry" | "conda" | "gem" | "composer" | "brew" | "apt" | "apt-get"
            | "apk" | "dnf" | "yum" | "cargo" | "go" => {
                matches!(
                    sub,
                    "install"
                        | "uninstall"
                        | "add"
                        | "remove"
                        | "upgrade"
                        | "publish"
                        | "push"
                        | "get"
                        | "sync"
                )
            }
            "docker" | "podman" => {
                matches!(
                    sub,
                    "push" | "run" | "rm" | "rmi" | "stop" | "start" | "build" | "compose" | "kill" | "tag"
                )
            }
            "kubectl" | "helm" => {
                matches!(
                    sub,
                    "apply" | "delete" | "create" | "scale" | "rollout" | "patch" | "install" | "upgrade"
                )
            }
            "terraform" | "pulumi" => matches!(sub, "apply" | "destroy" | "up" | "import"),
            "curl" => {
                any(&[
                    "POST",
                    "PUT",
                    "PATCH",
                    "DELETE",
                    "-d",
                    "--data",
                    "--data-raw",
                    "--data-binary",
                    "-F",
                    "-T",
                ]) || self.words.iter().any(|word| word.starts_with("-XP") || word.starts_with("-XD"))
            }
            "systemctl" | "service" | "launchctl" => !matches!(sub, "status" | "list-units" | "show" | ""),
            "ssh" | "scp" | "rsync" | "sftp" | "kill" | "pkill" | "killall" | "crontab" | "mail"
            | "sendmail" | "alembic" | "dropdb" | "createdb" => true,
            "psql" | "mysql" | "sqlite3" | "mongosh" | "redis-cli" => {
                let text = self.text.to_ascii_lowercase();
                ["insert ", "update ", "delete ", "drop ", "alter ", "create ", "truncate ", " set ", " del "]
                    .iter()
                    .any(|verb| text.contains(verb))
            }
            "aws" | "gcloud" | "az" | "fly" | "vercel" | "netlify" | "wrangler" | "heroku" => any(&[
                "create",
                "delete",
                "deploy",
                "update",
                "put-object",
                "cp",
                "sync",
                "rm",
                "mv",
                "publish",
                "restart",
                "terminate-instances",
                "run-instances",
                "invoke",
            ]),
            _ => false,
        }
    }

    /// Whether the command only looks: what it prints is content, so error-like lines in it are no errors.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        let sub = self.operands().next().unwrap_or_default();
        match self.program() {
            "git" => {
                matches!(sub, "log" | "show" | "diff" | "status" | "blame" | "grep" | "branch" | "ls-files")
            }
            "sed" => !self.words.iter().any(|word| word.starts_with("-i")),
            "find" | "fd" => !self
                .words
                .iter()
                .any(|word| matches!(word.as_str(), "-delete" | "-exec" | "-execdir" | "-x")),
            program => LOOKS.contains(&program),
        }
    }

    /// Whether the command searches: without output it found nothing.
    #[must_use]
    pub fn searches(&self) -> bool {
        match self.program() {
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "fd" | "find" | "locate" | "Select-String" => {
                true
            }
            "git" => self.operands().next() == Some("grep"),
            _ => false,
        }
    }
}

const GIT: [&str; 14] = [
    "commit",
    "push",
    "merge",
    "rebase",
    "reset",
    "tag",
    "checkout",
    "switch",
    "stash",
    "revert",
    "cherry-pick",
    "clone",
    "pull",
    "init",
];

const LOOKS: [&str; 26] = [
    "cat", "head", "tail", "less", "grep", "egrep", "fgrep", "rg", "ag", "find", "fd", "ls", "tree", "wc",
    "echo", "printf", "pwd", "cd", "which", "awk", "cut", "sort", "uniq", "jq", "stat", "diff",
];

fn is_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.contains('.') && !word.contains(char::is_whitespace) && !word.starts_with("s/")
}
