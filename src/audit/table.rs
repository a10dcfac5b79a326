//! An audit for a person.

use super::findings::Finding;
use super::report::{FoldAudit, LogAudit, ReplacementAudit};
use crate::words::{count, plural, range};
use comfy_table::{CellAlignment, Table, presets};
use std::collections::BTreeMap;

/// Replacements and findings that are listed one by one; all of them are in the JSON.
const LISTED: usize = 40;

// Called for every table: inlined, it is code three times over.
#[inline(never)]
fn table(header: &[&str], numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for index in numbers {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Everything an audit found, as text that reads well in a terminal.
pub(super) fn text(audit: &LogAudit) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(audit.path.clone());
    let session = audit.session.as_deref().unwrap_or("without a header");
    line(format!(
        "  session {session}: {}, {}, {}",
        plural(audit.lines, "line"),
        plural(audit.events, "event"),
        plural(audit.turns, "turn")
    ));
    let requests = audit.requests;
    line(match requests.first {
        None => format!("  {}, none of which a provider would refuse", plural(requests.count, "request")),
        Some(first) => {
            let made_by =
                first.made_by.map_or(String::new(), |by| format!(", made by the replacement at s{by}"));
            format!(
                "  {}, {} of them refused; the first is request {}, answered at line {}: {} at s{}{made_by}",
                plural(requests.count, "request"),
                count(requests.refused),
                count(first.request),
                first.line,
                first.fault,
                first.seq
            )
        }
    });
    line(format!(
        "  surface: {}, {}, about {}",
        plural(audit.surface.nodes, "node"),
        plural(audit.surface.chars, "character"),
        plural(audit.surface.tokens, "token")
    ));
    for mark in &audit.marks {
        let fate = match (mark.report, mark.discarded) {
            (Some(report), _) => format!("folded at s{report}"),
            (None, true) => "discarded".to_owned(),
            (None, false) => "not folded".to_owned(),
        };
        let objective = mark.objective.as_ref().map_or(String::new(), |objective| format!(": {objective}"));
        line(format!("  mark {} at s{}, {fate}{objective}", mark.id, mark.seq));
    }
    if !audit.shadowed_persons.is_empty() {
        let lost = audit.shadowed_persons.iter().filter(|person| person.carried == Some(false)).count();
        let list: Vec<String> = audit
            .shadowed_persons
            .iter()
            .take(LISTED)
            .map(|person| format!("s{} by s{}", person.seq, person.by))
            .collect();
        let more = audit.shadowed_persons.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        line(format!(
            "  persons' messages shadowed: {}, {lost} without their words: {}{more}",
            audit.shadowed_persons.len(),
            list.join(", ")
        ));
    }
    if !audit.replacements.is_empty() {
        line(format!("\n{}", groups(&audit.replacements)));
        line(format!("\n{}", replacements(&audit.replacements)));
    }
    if !audit.folds.is_empty() {
        line(format!("\n{}", folds(&audit.folds)));
    }
    if !audit.replacements.is_empty() {
        line(String::new());
    }
    line(findings(&audit.findings, audit.more_findings));
    text
}

fn groups(replacements: &[ReplacementAudit]) -> String {
    #[derive(Default)]
    struct Group {
        times: u64,
        nodes: u64,
        before: u64,
        after: u64,
        again: u64,
    }
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for one in replacements {
        let group = groups.entry(&one.by).or_default();
        group.times += 1;
        group.nodes += one.nodes;
        group.before += one.before.tokens;
        group.after += one.after.tokens;
        group.again += one.read_again.len() as u64;
    }
    let mut table = table(&["replacements by", "times", "nodes taken", "tokens freed", "read again"], 1..5);
    for (by, group) in groups {
        let freed = match group.before.checked_sub(group.after) {
            Some(freed) => count(freed),
            None => format!("-{}", count(group.after - group.before)),
        };
        table.add_row([by.to_owned(), count(group.times), count(group.nodes), freed, count(group.again)]);
    }
    table.trim_fmt()
}

fn replacements(replacements: &[ReplacementAudit]) -> String {
    let mut table = table(&["seq", "line", "by", "took", "nodes", "chars", "tokens", "read again"], 0..0);
    let older = replacements.len().saturating_sub(LISTED);
    for one in replacements.iter().skip(older) {
        let again: Vec<String> =
            one.read_again.iter().map(|again| format!("{} at s{}", again.what, again.seq)).collect();
        table.add_row([
            format!("s{}", one.seq),
            one.line.to_string(),
            one.by.clone(),
            range(one.start, one.end),
            format!("{} → {}", count(one.before.nodes), count(one.after.nodes)),
            format!("{} → {}", count(one.before.chars), count(one.after.chars)),
            format!("{} → {}", count(one.before.tokens), count(one.after.tokens)),
            again.join("; "),
        ]);
    }
    match older {
        0 => table.trim_fmt(),
        older => format!("{}\n  and {} before these", table.trim_fmt(), count(older as u64)),
    }
}

fn folds(folds: &[FoldAudit]) -> String {
    let mut table = table(&["fold", "report", "nodes", "chars", "tokens", "asked with", "read again"], 0..0);
    for fold in folds {
        let asked = match (fold.input_tokens, fold.output_tokens) {
            (Some(input), Some(output)) => {
                format!(
                    "{} in, {} cached, {} out",
                    count(input),
                    count(fold.cached_tokens.unwrap_or(0)),
                    count(output)
                )
            }
            _ => "no model".to_owned(),
        };
        table.add_row([
            format!("mark {}", fold.mark),
            format!("s{}", fold.report),
            count(fold.nodes),
            format!("{} → {}", count(fold.chars), count(fold.landed_chars)),
            format!("{} → {}", count(fold.tokens), count(fold.landed_tokens)),
            asked,
            count(fold.read_again),
        ]);
    }
    table.trim_fmt()
}

fn findings(findings: &[Finding], more: u64) -> String {
    if findings.is_empty() {
        return "  nothing found".to_owned();
    }
    let mut text = format!("  {}:", plural(findings.len() as u64 + more, "finding"));
    for finding in findings.iter().take(LISTED) {
        let line = finding.line.map_or(String::new(), |line| format!("line {line}, "));
        let code = serde_json::to_value(finding.code).ok();
        let code = code.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
        text.push_str(&format!("\n    {line}{code}: {}", finding.message));
    }
    let more = more + findings.len().saturating_sub(LISTED) as u64;
    if more > 0 {
        text.push_str(&format!("\n    and {} more", count(more)));
    }
    text
}
