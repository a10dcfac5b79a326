use tool_rewind::report::language::{Language, Section};

const SECTIONS: [Section; 17] = [
    Section::Objective,
    Section::Findings,
    Section::Done,
    Section::DeadEnds,
    Section::Open,
    Section::LastWords,
    Section::Quotes,
    Section::Evidence,
    Section::Read,
    Section::Written,
    Section::Commands,
    Section::Searches,
    Section::EmptySearches,
    Section::Errors,
    Section::Effects,
    Section::Told,
    Section::Stopped,
];

fn of(messages: &[&str]) -> Language {
    Language::of_messages(messages.iter().copied())
}

#[test]
fn the_persons_own_words_decide() {
    for zh in [
        "请修复登录问题",
        "帮我看看 src/auth.ts 里的 login 函数为什么失败",
        "修复 `parseConfigFile()` 的 bug",
        "跑一下 npm test\n```\nAssertionError: expected true to be false at foo bar baz qux\n```",
        "好",
        "把 README 翻译成中文，https://x.dev/docs/readme.md",
    ] {
        assert_eq!(of(&[zh]), Language::Zh, "{zh}");
    }
    for en in [
        "Fix the login bug",
        "The label 登录 is wrong, please fix the page",
        "",
        "🙂",
        "src/认证.ts",
        "ログインのバグを修正してください",
        "漢字かな交じり文の説明を直してください",
        "Исправь ошибку входа",
        "don't translate 好",
    ] {
        assert_eq!(of(&[en]), Language::En, "{en}");
    }
}

#[test]
fn one_pasted_log_does_not_outvote_the_person() {
    let log = "INFO server started on port and everything is fine\n".repeat(400);
    assert_eq!(of(&["先看看日志里有什么问题", &format!("```\n{log}```"), "继续"]), Language::Zh);
    let chat: Vec<String> =
        (0..40).map(|_| "请继续检查这个模块的所有调用方，并说明它们之间的依赖关系。".to_owned()).collect();
    let mut all: Vec<&str> = chat.iter().map(String::as_str).collect();
    all.push(&log);
    assert_eq!(of(&all), Language::Zh);
}

#[test]
fn headings_of_both_languages_parse_back_to_the_same_sections() {
    for section in SECTIONS {
        for language in [Language::En, Language::Zh] {
            let heading = section.heading(language);
            assert!(heading.starts_with("## ") || heading.starts_with("### "), "{heading}");
            let title = section.title(language);
            for line in [
                heading.clone(),
                format!("  {heading}: "),
                format!("# {title}："),
                format!("**{title}**"),
                format!("**{title}:**"),
                format!("{title}:"),
            ] {
                assert_eq!(Section::parse(&line), Some(section), "{line}");
            }
            assert_eq!(Section::parse(title), None, "a bare word is no heading");
        }
        assert_eq!(Section::parse(&section.heading(Language::En).to_uppercase()), Some(section));
    }
    assert_eq!(Section::parse("## Something else"), None);
}

#[test]
fn the_instruction_asks_for_sections_that_parse() {
    use tool_rewind::report::instruction::{Ask, instruction};
    for language in [Language::En, Language::Zh] {
        let ask = Ask {
            mark: "1",
            objective: None,
            messages: Some(4),
            after_call: true,
            checkpoint_tool: "checkpoint",
            language,
        };
        let asked: Vec<Section> = instruction(&ask)
            .lines()
            .filter(|line| line.starts_with("## "))
            .filter_map(Section::parse)
            .collect();
        assert_eq!(asked, [Section::Findings, Section::Done, Section::DeadEnds, Section::Open]);
    }
}
