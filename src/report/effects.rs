//! What a simple command did: files it changed, effects that outlive the session, or nothing but looking.

use super::shell::{Shell, Simple, split};
use super::text::is_one;

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

// What several questions ask is code once: inlined, it is a good part of the addon's room.
impl Simple<'_> {
    #[inline(never)]
    fn program(&self) -> &str {
        let first = self.words.first().map_or("", String::as_str);
        first.rsplit('/').next().unwrap_or(first)
    }

    fn operands(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    /// Sub-commands, without the options before them and what those take, as in `git -C dir push`.
    #[inline(never)]
    fn subs(&self) -> Vec<&str> {
        let mut words = self.words.iter().skip(1).map(String::as_str);
        let mut subs = Vec::new();
        while let Some(word) = words.next() {
            if is_one(VALUED, word) && (subs.is_empty() || word != "-c") {
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
            "git" => match self.subs().split_first() {
                Some((&"rm", files)) => changes.extend(files.iter().map(|file| (Change::Deleted, *file))),
                Some((&"mv", files)) => {
                    if let Some((to, from)) = files.split_last() {
                        changes.extend(from.iter().map(|file| (Change::Deleted, *file)));
                        changes.push((Change::Moved, to));
                    }
                }
                _ => {}
            },
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
        if let Some((_, effects)) = EFFECTS.iter().find(|(programs, _)| is_one(programs, program)) {
            return is_one(effects, sub) || program == "git" && sub == "branch" && self.any("-d -D -m -M");
        }
        if is_one(CLOUDS, program) {
            return self.any(CLOUD);
        }
        match program {
            "gh" | "glab" => is_one(FORGE, second) || self.any("POST PUT PATCH DELETE"),
            "curl" => {
                self.any("POST PUT PATCH DELETE -d --data --data-raw --data-binary -F -T")
                    || self.words.iter().any(|word| word.starts_with("-XP") || word.starts_with("-XD"))
            }
            "systemctl" | "service" | "launchctl" => {
                !sub.is_empty() && !is_one("status list-units show", sub)
            }
            "psql" | "mysql" | "sqlite3" | "mongosh" | "redis-cli" => {
                let text = self.text.to_ascii_lowercase();
                ["insert ", "update ", "delete ", "drop ", "alter ", "create ", "truncate ", " set ", " del "]
                    .iter()
                    .any(|verb| text.contains(verb))
            }
            "bash" | "sh" | "zsh" | "dash" => self.inner(Shell::Posix),
            "pwsh" | "powershell" | "powershell.exe" => self.inner(Shell::Power),
            _ => is_one(ALWAYS, program) || self.is_cmdlet_effect(),
        }
    }

    /// Whether one of the words in a list is among the command's.
    #[inline(never)]
    pub(super) fn any(&self, list: &str) -> bool {
        self.words.iter().skip(1).any(|word| is_one(list, word))
    }

    /// Whether a command line that is handed to another shell has such an effect.
    fn inner(&self, shell: Shell) -> bool {
        let flag = self.words.iter().position(|word| is_one("-c -lc -ec -Command -command", word));
        let line = flag.and_then(|at| self.words.get(at + 1));
        line.is_some_and(|line| split(line, shell).iter().any(Simple::has_effect))
    }

    /// `python -m pip install` and `uv pip install` are `pip install`.
    fn package_manager<'w>(&self, subs: &'w [&'w str]) -> Option<(&'w str, &'w [&'w str])> {
        let nested = self.program().starts_with("python") && self.any("-m") || self.program() == "uv";
        let first = subs.first().filter(|name| nested && is_one("pip pip3", name))?;
        Some((first, subs.get(1..)?))
    }

    /// Whether the command only looks: what it prints is content, so error-like lines in it are no errors.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        match self.program() {
            "git" => {
                let sub = self.subs().first().copied().unwrap_or_default();
                is_one("log show diff status blame grep branch ls-files", sub) && !self.has_effect()
            }
            "sed" => !self.words.iter().any(|word| word.starts_with("-i")),
            "find" | "fd" => !self.any("-delete -exec -execdir -x"),
            program => is_one(LOOKS, program) || self.is_looking_cmdlet(),
        }
    }

    /// Whether the command searches: without output it found nothing.
    #[must_use]
    pub fn searches(&self) -> bool {
        match self.program() {
            // Asked to act on what it finds, it has nothing to say.
            "find" | "fd" => self.only_looks(),
            "git" => self.subs().first() == Some(&"grep"),
            program => is_one("grep egrep fgrep rg ag ack locate", program) || self.is_searching_cmdlet(),
        }
    }

    /// Whether the search answers by its exit code alone, as `grep -q` does.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let cluster = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('q');
        let silent = |word: &String| is_one("--quiet --silent", word) || cluster(word);
        self.searches() && !is_one("find fd", self.program()) && self.words.iter().skip(1).any(silent)
    }

    /// Whether the command only hands on what is piped into it: without a line it prints none.
    #[must_use]
    pub fn passes_on(&self) -> bool {
        is_one("head tail sort uniq cut sed cat tr awk less nl column tac tee", self.program())
            || self.searches()
            || self.is_passing_cmdlet()
    }

    /// Whether the command counts what is piped into it, or what it finds: `0` is nothing.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.program() == "wc" && self.any("-l -w -c -m") || self.searches() && self.any("-c --count")
    }

    /// Whether the command only changes how a list of commands ends, as in `grep x || true`.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        is_one("true :", self.program())
    }
}

/// Options that take the next word, where they stand before a sub-command or among its words.
const VALUED: &str = "-C -c --git-dir --work-tree -n --namespace --context --kubeconfig -R --repo --prefix --cwd --dir \
                      --filter -w --workspace -H --host --kube-context --registry --project --directory --manifest-path";

/// Programs, and those of their sub-commands that have an effect.
const EFFECTS: [(&str, &str); 6] = [
    ("git", "commit push merge rebase reset tag checkout switch stash revert cherry-pick clone pull init"),
    ("npm pnpm yarn bun", "install i add remove uninstall ci publish link update"),
    (
        "pip pip3 uv poetry conda gem composer brew apt apt-get apk dnf yum cargo go",
        "install uninstall add remove upgrade publish push get sync",
    ),
    ("docker podman", "push run rm rmi stop start build compose kill tag"),
    ("kubectl helm", "apply delete create scale rollout patch install upgrade"),
    ("terraform pulumi", "apply destroy up import"),
];

/// What `gh pr` and the like do.
const FORGE: &str = "create merge close edit comment delete reopen review upload run";

const CLOUDS: &str = "aws gcloud az fly vercel netlify wrangler heroku";
const CLOUD: &str = "create delete deploy update put-object cp sync rm mv publish restart terminate-instances \
                     run-instances invoke";

/// Programs that have an effect whatever they are told.
const ALWAYS: &str = "ssh scp rsync sftp kill pkill killall crontab mail sendmail alembic dropdb createdb";

const LOOKS: &str = "cat head tail less grep egrep fgrep rg ag find fd ls tree wc echo printf pwd cd which awk cut sort \
                     uniq jq stat diff";

fn is_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.contains('.') && !word.contains(char::is_whitespace) && !word.starts_with("s/")
}
