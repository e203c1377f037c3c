//! What differs between two versions of a script, line by line.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// Longer comparisons end with a coarser result.
const LIMIT: Duration = Duration::from_millis(200);
/// Lines around a difference.
const AROUND: usize = 3;

/// A line of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// `+`, `-`, or a blank; `…` where equal lines are left out.
    pub sign: &'static str,
    pub text: String,
}

/// From one text to the other.
pub fn diff(from: &str, to: &str) -> Vec<DiffLine> {
    let diff = TextDiff::configure().timeout(LIMIT).diff_lines(from, to);
    let mut lines = vec![];
    for (index, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if index > 0 {
            lines.push(DiffLine { sign: "…", text: String::new() });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => "-",
                ChangeTag::Insert => "+",
                ChangeTag::Equal => " ",
            };
            lines.push(DiffLine { sign, text: change.value().trim_end_matches(['\n', '\r']).to_owned() });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_and_their_neighbours_are_shown() {
        let from: String = (1..=20).map(|number| format!("line {number}\n")).collect();
        let to = from.replace("line 2\n", "line two\n").replace("line 19\n", "");
        let lines = diff(&from, &to);
        let changed: Vec<_> = lines.iter().filter(|it| it.sign != " ").map(|it| (it.sign, it.text.as_str())).collect();
        assert_eq!(changed, [("-", "line 2"), ("+", "line two"), ("…", ""), ("-", "line 19")]);
        assert!(lines.len() < 15 && diff(&from, &from).is_empty());
    }
}
