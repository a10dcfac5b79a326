//! What a simple command did: files it changed, effects that outlive the session, or nothing but looking.

use super::shell::{Shell, Simple, split};

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

    /// Sub-commands, without the options before them and what those take, as in `git -C dir push`.
    fn subs(&self) -> Vec<&str> {
        let mut words = self.words.iter().skip(1).map(String::as_str);
        let mut subs = Vec::new();
        while let Some(word) = words.next() {
            if VALUED.contains(&word) && (subs.is_empty() || word != "-c") {
                words.next();
            } else if !word.starts_with(['-', '+']) {
                subs.push(word);
            }
        }
        subs
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
            "rm" | "unlink" if self.shell == Shell::Posix => {
                changes.extend(self.operands().map(|file| (Change::Deleted, file)))
            }
            "mv" | "cp" | "ln" if self.shell == Shell::Posix => {
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
            _ => changes.extend(self.cmdlet_changes()),
        }
        changes
    }

    /// Whether the command does something that outlives the session and is more than a file of the workspace:
    /// a commit, a push, a publication, a request that writes, a package, a service.
    #[must_use]
    pub fn has_effect(&self) -> bool {
        let subs = self.subs();
        let (program, subs) = self.package_manager(&subs).unwrap_or((self.program(), &subs));
        let sub = subs.first().copied().unwrap_or_default();
        let second = subs.get(1).copied().unwrap_or_default();
        let any = |words: &[&str]| self.words.iter().any(|word| words.contains(&word.as_str()));
        match program {
            "git" => GIT.contains(&sub) || sub == "branch" && any(&["-d", "-D", "-m", "-M"]),
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
            "bash" | "sh" | "zsh" | "dash" => self.inner(Shell::Posix, &["-c", "-lc", "-ec"]),
            "pwsh" | "powershell" | "powershell.exe" => {
                self.inner(Shell::Power, &["-c", "-Command", "-command"])
            }
            _ => self.is_cmdlet_effect(),
        }
    }

    /// Whether a command line that is handed to another shell has such an effect.
    fn inner(&self, shell: Shell, flags: &[&str]) -> bool {
        let flag = self.words.iter().position(|word| flags.contains(&word.as_str()));
        let line = flag.and_then(|at| self.words.get(at + 1));
        line.is_some_and(|line| split(line, shell).iter().any(Simple::has_effect))
    }

    /// `python -m pip install` and `uv pip install` are `pip install`.
    fn package_manager<'w>(&self, subs: &'w [&'w str]) -> Option<(&'w str, &'w [&'w str])> {
        let pip = |name: &&&str| matches!(**name, "pip" | "pip3");
        let nested = self.program().starts_with("python") && self.words.iter().any(|word| word == "-m")
            || matches!(self.program(), "uv" | "py");
        let first = subs.first().filter(pip).filter(|_| nested)?;
        Some((first, subs.get(1..)?))
    }

    /// Whether the command only looks: what it prints is content, so error-like lines in it are no errors.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        match self.program() {
            "git" => {
                let sub = self.subs().first().copied().unwrap_or_default();
                let looks =
                    ["log", "show", "diff", "status", "blame", "grep", "branch", "ls-files"].contains(&sub);
                looks && !self.has_effect()
            }
            "sed" => !self.words.iter().any(|word| word.starts_with("-i")),
            "find" | "fd" => !self
                .words
                .iter()
                .any(|word| matches!(word.as_str(), "-delete" | "-exec" | "-execdir" | "-x")),
            program => LOOKS.contains(&program) || self.is_looking_cmdlet(),
        }
    }

    /// Whether the command searches: without output it found nothing.
    #[must_use]
    pub fn searches(&self) -> bool {
        match self.program() {
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "locate" => true,
            // Asked to act on what it finds, it has nothing to say.
            "find" | "fd" => self.only_looks(),
            "git" => self.subs().first() == Some(&"grep"),
            _ => self.is_searching_cmdlet(),
        }
    }

    /// Whether the search answers by its exit code alone, as `grep -q` does.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let cluster = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('q');
        let silent = |word: &String| matches!(word.as_str(), "--quiet" | "--silent") || cluster(word);
        self.searches() && !matches!(self.program(), "find" | "fd") && self.words.iter().skip(1).any(silent)
    }

    /// Whether the command only hands on what is piped into it: without a line it prints none.
    #[must_use]
    pub fn passes_on(&self) -> bool {
        match self.program() {
            "head" | "tail" | "sort" | "uniq" | "cut" | "sed" | "cat" | "tr" | "awk" | "less" | "nl"
            | "column" | "tac" | "tee" => true,
            _ => self.searches() || self.is_passing_cmdlet(),
        }
    }

    /// Whether the command counts what is piped into it, or what it finds: `0` is nothing.
    #[must_use]
    pub fn counts(&self) -> bool {
        let any = |flags: &[&str]| self.words.iter().any(|word| flags.contains(&word.as_str()));
        match self.program() {
            "wc" => any(&["-l", "-w", "-c", "-m"]),
            _ => self.searches() && any(&["-c", "--count"]),
        }
    }

    /// Whether the command only changes how a list of commands ends, as in `grep x || true`.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.program(), "true" | ":")
    }
}

/// Options that take the next word, where they stand before a sub-command or among its words.
const VALUED: [&str; 23] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "-R",
    "--repo",
    "--prefix",
    "--cwd",
    "--dir",
    "--filter",
    "-w",
    "--workspace",
    "-H",
    "--host",
    "--kube-context",
    "--registry",
    "--project",
    "--directory",
    "--manifest-path",
];

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
