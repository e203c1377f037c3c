//! Words that comments do without: a comment names its subject, its number and its unit.

use super::sources::files;

/// Each has a plain form: “the number of”, “for that time”, “the caller”, “again”, “without end”, “is stopped”.
const AVOIDED: &[&str] =
    &["so many", "so long", "so much", "whoever", "nobody", "is told", "anew", "for ever", "stands still"];

/// The comment of a line, without what it quotes from code.
fn comment(line: &str) -> Option<String> {
    let start = line.find("// ").or_else(|| line.find("/// ")).or_else(|| line.find("//! "))?;
    let text = line[start..].split('`').step_by(2).collect::<Vec<_>>().join("");
    Some(text.to_lowercase())
}

/// Whether the text has the words as whole words.
fn has(text: &str, words: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
    text.match_indices(words).any(|(at, _)| {
        !is_letter(text[..at].chars().next_back()) && !is_letter(text[at + words.len()..].chars().next())
    })
}

#[test]
fn comments_name_their_subject() {
    let mut found = vec![];
    for folder in ["admin", "executor-sdk", "migrations"] {
        // Not this file, whose tests have the words.
        for (path, text) in
            files(folder).iter().filter(|(path, _)| path.ends_with(".rs") && !path.ends_with("/prose.rs"))
        {
            for (number, line) in text.lines().enumerate() {
                let Some(comment) = comment(line) else { continue };
                for words in AVOIDED.iter().filter(|words| has(&comment, words)) {
                    found.push(format!("{folder}/{path}:{}: {words}", number + 1));
                }
            }
        }
    }
    assert!(found.is_empty(), "say it in plain words:\n{}", found.join("\n"));
}

#[test]
fn words_are_found_whole_and_outside_of_code() {
    assert!(has(&comment("    // Planned anew.").unwrap(), "anew"));
    assert!(has(&comment("/// Nobody waits.").unwrap(), "nobody"));
    assert!(!has(&comment("/// The user `nobody`.").unwrap(), "nobody"));
    assert!(!has(&comment("// renewed").unwrap(), "anew") && comment("let x = 1;").is_none());
}
