//! The retry delay as fields of a form: a kind, and the numbers of that kind.

use carillon_scheduler::RetryDelay;

use crate::web::forms::form::{Form, not_a_time, seconds};

/// The form's fields and the keys of their labels.
pub const LABELS: &[(&str, &str)] = &[
    ("retry_kind", "retry-delay"),
    ("retry_base", "first-delay"),
    ("retry_cap", "longest-delay"),
    ("retry_seconds", "delay"),
    ("retry_list", "delays"),
];

/// Fills the fields; those of the other kinds get what a new job would have.
pub fn fill(form: Form, delay: &RetryDelay) -> Form {
    match delay {
        RetryDelay::Exponential { base_seconds, cap_seconds } => form
            .with("retry_kind", "exponential")
            .with("retry_base", base_seconds.to_string())
            .with("retry_cap", cap_seconds.to_string()),
        RetryDelay::Fixed { seconds } => {
            let form = fill(form, &RetryDelay::default());
            match seconds.as_slice() {
                [seconds] => form.with("retry_kind", "fixed").with("retry_seconds", seconds.to_string()),
                list => form.with("retry_kind", "list").with("retry_list", joined(list)),
            }
        }
    }
}

fn joined(seconds: &[i64]) -> String {
    let texts: Vec<String> = seconds.iter().map(i64::to_string).collect();
    texts.join(", ")
}

/// The delay that was chosen; the default one if a field has an error.
pub fn retry_delay(form: &mut Form) -> RetryDelay {
    let delay = match form.value("retry_kind") {
        "" | "exponential" => exponential(form),
        "fixed" => fixed(form),
        "list" => list(form),
        other => {
            let text = format!("`{other:.64}` is not a kind of retry delay; allowed: exponential, fixed, list");
            form.add_error("retry_kind", text);
            None
        }
    };
    delay.unwrap_or_default()
}

fn exponential(form: &mut Form) -> Option<RetryDelay> {
    let RetryDelay::Exponential { base_seconds, cap_seconds } = RetryDelay::default() else {
        return None;
    };
    let (base_seconds, cap_seconds) =
        (form.seconds("retry_base", base_seconds), form.seconds("retry_cap", cap_seconds));
    // Each bound on its own, so that its error stands beside its field.
    let base_alone = RetryDelay::Exponential { base_seconds, cap_seconds: base_seconds.max(1) };
    let cap_alone = RetryDelay::Exponential { base_seconds: 0, cap_seconds };
    let are_allowed = check(form, "retry_base", &base_alone) & check(form, "retry_cap", &cap_alone);
    if are_allowed && base_seconds > cap_seconds {
        form.add_error("retry_cap", format!("must not be shorter than the first delay, {base_seconds} seconds"));
    }
    is_valid(form).then_some(RetryDelay::Exponential { base_seconds, cap_seconds })
}

fn fixed(form: &mut Form) -> Option<RetryDelay> {
    if form.value("retry_seconds").trim().is_empty() {
        form.add_error("retry_seconds", "Write the seconds to wait before each retry.");
    }
    let delay = RetryDelay::Fixed { seconds: vec![form.seconds("retry_seconds", 0)] };
    check(form, "retry_seconds", &delay);
    is_valid(form).then_some(delay)
}

fn list(form: &mut Form) -> Option<RetryDelay> {
    let text = form.value("retry_list").to_owned();
    let words = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    let seconds: Vec<i64> = match words.map(|word| seconds(word).ok_or(word)).collect() {
        Ok(seconds) => seconds,
        Err(word) => {
            form.add_error("retry_list", not_a_time(word));
            return None;
        }
    };
    if seconds.is_empty() {
        form.add_error("retry_list", "Write one delay for each retry in seconds, such as 10, 60, 600.");
    }
    let delay = RetryDelay::Fixed { seconds };
    check(form, "retry_list", &delay);
    is_valid(form).then_some(delay)
}

/// Notes what the rule says of a delay; its first word names a member of the API, not a field.
fn check(form: &mut Form, name: &str, delay: &RetryDelay) -> bool {
    let Err(message) = delay.validate() else {
        return true;
    };
    form.add_error(name, message.split_once(' ').map_or(message.as_str(), |(_, rest)| rest));
    false
}

fn is_valid(form: &Form) -> bool {
    LABELS.iter().all(|(name, _)| form.error(name).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&str, &str)]) -> Result<RetryDelay, String> {
        let mut form = Form::default();
        for (name, value) in fields {
            form.set(name, *value);
        }
        let delay = retry_delay(&mut form);
        match form.errors() {
            [] => Ok(delay),
            errors => Err(errors.iter().map(|(name, text)| format!("{name}: {text}")).collect::<Vec<_>>().join("\n")),
        }
    }

    #[test]
    fn every_delay_comes_back_from_its_form_as_it_was() {
        let delays = ["exponential 5 300", "exponential 0 1", "exponential 9 600", "fixed 60", "fixed 10 60 600"];
        for text in delays {
            let delay: RetryDelay = text.parse().unwrap();
            let mut form = fill(Form::default(), &delay);
            assert_eq!(retry_delay(&mut form), delay);
            assert_eq!(form.errors(), []);
        }
        assert_eq!(read(&[]), Ok(RetryDelay::default()), "a form without these fields");
        let blanks = [("retry_kind", "list"), ("retry_list", " 10 1m,10m ")];
        assert_eq!(read(&blanks), Ok("fixed 10 60 600".parse().unwrap()));
    }

    #[test]
    fn an_error_stands_beside_its_field() {
        let exponential = |base: &str, cap: &str| read(&[("retry_base", base), ("retry_cap", cap)]).unwrap_err();
        assert_eq!(exponential("90000", "300"), "retry_base: 90000 is not allowed; 0 to 86400 seconds");
        assert_eq!(exponential("5", "0"), "retry_cap: 0 is not allowed; 1 to 604800 seconds");
        assert_eq!(exponential("600", "60"), "retry_cap: must not be shorter than the first delay, 600 seconds");
        assert!(exponential("5x", "300").starts_with("retry_base: “5x” is not a time"));
        let other = |kind: &str, name: &str, value: &str| read(&[("retry_kind", kind), (name, value)]).unwrap_err();
        assert!(other("fixed", "retry_seconds", "").contains("Write the seconds"));
        assert!(other("fixed", "retry_seconds", "-1").contains("-1 is not allowed; 0 to 604800 seconds"));
        assert!(other("list", "retry_list", "10, soon").contains("“soon” is not a time"));
        assert!(other("list", "retry_list", " ,").contains("one delay for each retry"));
        let long = "1 ".repeat(101);
        assert!(other("list", "retry_list", &long).contains("has 101 numbers; 1 to 100"));
        assert!(other("sometimes", "retry_list", "1").contains("retry_kind: `sometimes` is not a kind"));
    }
}
