//! Expressions that only Java reads, and that have one plain meaning: what its parser skips is left out.

/// Names of days and months.
const NAMES: [&str; 19] = [
    "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP",
    "OCT", "NOV", "DEC",
];

/// The expression as its parser reads it; None: nothing is skipped.
pub fn as_read(expression: &str) -> Option<String> {
    let fields: Vec<String> = expression.split_whitespace().map(field).collect();
    let read = fields.join(" ");
    (read != expression.split_whitespace().collect::<Vec<_>>().join(" ")).then_some(read)
}

fn field(text: &str) -> String {
    let items: Vec<String> = text.split(',').filter(|item| !item.is_empty()).map(item).collect();
    items.join(",")
}

/// One item of a list.
fn item(text: &str) -> String {
    let (range, step) = match text.split_once('/') {
        Some((range, step)) => (range, Some(step)),
        None => (text, None),
    };
    let is_named = range.get(..3).is_some_and(|head| NAMES.contains(&head.to_ascii_uppercase().as_str()));
    let range = if is_named { range.to_owned() } else { without_garbage(range) };
    match step {
        // A step behind a name is ignored, and so is one of 0.
        None => range,
        Some(step) if is_named || step.trim_start_matches('0').is_empty() && !step.is_empty() && range != "*" => range,
        Some(step) => format!("{range}/{step}"),
    }
}

/// `5X` is 5, and `1-5-9` is 1-5. What has a meaning of its own (`L`, `15W`, `6#3`) stays.
fn without_garbage(range: &str) -> String {
    let parts: Vec<&str> = range.split('-').collect();
    if parts.len() > 2 && parts.iter().all(|part| is_number(part)) {
        return parts[..2].join("-");
    }
    let digits = range.find(|c: char| !c.is_ascii_digit()).unwrap_or(range.len());
    let (number, rest) = range.split_at(digits);
    let is_garbage = !number.is_empty() && !rest.is_empty() && !rest.starts_with(['-', '#', 'L', 'l', 'W', 'w']);
    if is_garbage { number.to_owned() } else { range.to_owned() }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_java_skips_is_left_out() {
        for (written, read) in [
            ("0 0 12 ? * MON/2", "0 0 12 ? * MON"),
            ("0 5X 12 * * ?", "0 5 12 * * ?"),
            ("0 0 1-5-9 * * ?", "0 0 1-5 * * ?"),
            ("0 5/0 12 * * ?", "0 5 12 * * ?"),
            ("0 5,,7 12 * * ?", "0 5,7 12 * * ?"),
        ] {
            assert_eq!(as_read(written).as_deref(), Some(read), "{written}");
        }
        for kept in
            ["0 0 12 ? * MON-FRI", "0 0/5 * L-3 * ?", "0 0 0 15W * ?", "0 0 0 ? * 6#3", "0 */0 * * * ?", "0 0 0 LW * ?"]
        {
            assert_eq!(as_read(kept), None, "{kept}");
        }
    }
}
