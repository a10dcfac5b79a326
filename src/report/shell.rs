//! Reads a shell command far enough to see its simple commands, their words and their redirections. It never
//! guesses at expansions; what it cannot read it leaves as it is.

use std::iter::Peekable;
use std::ops::Range;

use super::text::is_one;
use std::str::CharIndices;

/// One simple command of a list or pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Simple<'a> {
    /// Words after quote removal, program first; assignments before it are dropped.
    pub words: Vec<String>,
    /// Files that output is redirected to.
    pub writes: Vec<String>,
    /// The command as written, trimmed.
    pub text: &'a str,
    /// Whether its output feeds the next command.
    pub piped: bool,
    /// Whose grammar it was read by.
    pub shell: Shell,
}

/// Whose grammar a command line is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shell {
    /// A POSIX shell.
    #[default]
    Posix,
    /// PowerShell: a backslash is of a path, a backtick escapes, `$null` swallows output.
    Power,
}

impl Shell {
    fn escape(self) -> char {
        match self {
            Self::Posix => '\\',
            Self::Power => '`',
        }
    }
}

/// Splits a command line into its simple commands. Bodies of here-documents are skipped.
#[must_use]
pub fn split(command: &str, shell: Shell) -> Vec<Simple<'_>> {
    Reader { command, shell, chars: command.char_indices().peekable(), heredocs: Vec::new() }.read()
}

struct Reader<'a> {
    command: &'a str,
    shell: Shell,
    chars: Peekable<CharIndices<'a>>,
    heredocs: Vec<String>,
}

impl<'a> Reader<'a> {
    fn read(mut self) -> Vec<Simple<'a>> {
        let mut commands = Vec::new();
        let (mut current, mut start) = (Simple::default(), 0);
        let mut word: Option<String> = None;
        while let Some((at, c)) = self.chars.next() {
            match c {
                c if c == self.shell.escape() => {
                    if let Some((_, next)) = self.chars.next()
                        && next != '\n'
                    {
                        word.get_or_insert_default().push(next);
                    }
                }
                '\'' | '"' => self.quoted(c, word.get_or_insert_default()),
                '#' if word.is_none() => while self.chars.next_if(|(_, c)| *c != '\n').is_some() {},
                '>' | '<' => self.redirect(c, &mut word, &mut current),
                '\n' | ';' | '|' | '&' | '(' | ')' => {
                    current.words.extend(word.take());
                    let doubled = self.chars.next_if(|(_, next)| *next == c && matches!(c, '|' | '&' | ';'));
                    current.piped = c == '|' && doubled.is_none();
                    self.finish(&mut commands, &mut current, start..at);
                    if c == '\n' {
                        self.skip_heredocs();
                    }
                    start = self.chars.peek().map_or(self.command.len(), |(at, _)| *at);
                }
                c if c.is_whitespace() => current.words.extend(word.take()),
                c => word.get_or_insert_default().push(c),
            }
        }
        current.words.extend(word.take());
        self.finish(&mut commands, &mut current, start..self.command.len());
        commands
    }

    fn finish(&self, commands: &mut Vec<Simple<'a>>, current: &mut Simple<'a>, at: Range<usize>) {
        let mut command = std::mem::take(current);
        command.text = self.command.get(at).unwrap_or_default().trim();
        command.shell = self.shell;
        loop {
            let assigned = command.words.iter().take_while(|word| is_prefix(word)).count();
            let leading = assigned + wrapper(command.words.get(assigned..).unwrap_or_default());
            if leading == 0 {
                break;
            }
            command.words.drain(..leading.min(command.words.len()));
        }
        if !command.words.is_empty() || !command.writes.is_empty() {
            commands.push(command);
        }
    }

    fn quoted(&mut self, quote: char, word: &mut String) {
        while let Some((_, c)) = self.chars.next() {
            match c {
                c if c == quote => return,
                c if quote == '"' && c == self.shell.escape() => {
                    word.extend(self.chars.next().map(|(_, c)| c))
                }
                c => word.push(c),
            }
        }
    }

    fn redirect(&mut self, c: char, word: &mut Option<String>, current: &mut Simple<'a>) {
        // A number glued to the arrow names a descriptor, not an argument.
        let descriptor = word.as_deref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let left = word.take();
        if !descriptor {
            current.words.extend(left);
        }
        let mut arrows = 1;
        while self.chars.next_if(|(_, next)| *next == c).is_some() {
            arrows += 1;
        }
        if c == '<' && arrows == 2 {
            self.chars.next_if(|(_, next)| *next == '-');
        }
        let duplicate = self.chars.next_if(|(_, next)| *next == '&').is_some();
        self.chars.next_if(|(_, next)| *next == '|');
        let target = self.target();
        match (c, arrows, target) {
            ('<', 2, Some(end)) => self.heredocs.push(end),
            ('>', _, Some(file)) if !duplicate && !file.starts_with("/dev/") && file != "$null" => {
                current.writes.push(file);
            }
            _ => {}
        }
    }

    fn target(&mut self) -> Option<String> {
        while self.chars.next_if(|(_, c)| *c == ' ' || *c == '\t').is_some() {}
        let mut target = None;
        let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')' | '<' | '>');
        while let Some((_, c)) = self.chars.next_if(|(_, c)| !ends(*c)) {
            let word: &mut String = target.get_or_insert_default();
            match c {
                '\'' | '"' => self.quoted(c, word),
                c => word.push(c),
            }
        }
        target
    }

    fn skip_heredocs(&mut self) {
        for end in std::mem::take(&mut self.heredocs) {
            loop {
                let mut line = String::new();
                while let Some((_, c)) = self.chars.next_if(|(_, c)| *c != '\n') {
                    line.push(c);
                }
                let more = self.chars.next().is_some();
                if line.trim() == end || !more {
                    break;
                }
            }
        }
    }
}

/// How many words at the front only say under whom, how long or how urgently the next one runs.
fn wrapper(words: &[String]) -> usize {
    let Some(program) = words.first() else { return 0 };
    // Options that take a value, and the operands that stand before the command.
    let (valued, operands) = match program.as_str() {
        "sudo" | "doas" => ("-u -g -h -p -C -r -t -D", 0),
        "env" => ("-u -C -S", 0),
        "timeout" | "gtimeout" => ("-s -k --signal --kill-after", 1),
        "nice" | "ionice" => ("-n -c", 0),
        "stdbuf" => ("-i -o -e", 0),
        "xargs" => ("-n -I -P -L -d", 0),
        _ => return 0,
    };
    let mut at = 1;
    while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
        at += if is_one(valued, option) { 2 } else { 1 };
    }
    at + operands
}

/// Assignments and words that only change how the next word runs.
fn is_prefix(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    let assigns = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    assigns || is_one("time nohup exec command then do else { ! if", word)
}
