use quote::quote;

use crate::expand::expand;

const FUNCTION: &str = "async fn close_day(ctx: &JobContext, params: Day) -> Result<(), JobError> { Ok(()) }";

fn problems_of(members: &str, function: &str) -> Vec<String> {
    let (members, function) = (members.parse().unwrap(), function.parse().unwrap());
    let all = |error: syn::Error| error.into_iter().map(|error| error.to_string()).collect();
    expand(members, function).err().map(all).unwrap_or_default()
}

fn problem(members: &str) -> String {
    problems_of(members, FUNCTION).join("\n")
}

#[test]
fn a_wrong_schedule_is_a_compile_error() {
    for (members, message) in [
        (r#"cron = "0 0 25 * * ?""#, "hour field: 25 is not allowed; hours are 0 to 23 (field 3 of 6: `25`)"),
        (r#"unix_cron = "0 25 * * *""#, "hour field: 25 is not allowed; hours are 0 to 23 (field 2 of 5: `25`)"),
        (
            r#"cron = "0 0 9 * * ?", timezone = "Europe/Bern""#,
            "`Europe/Bern` is not a time zone; write an IANA name such as `Europe/Berlin`, or `UTC`",
        ),
        (r#"cron = "0 0 9 * * ?", every = "10s""#, "the job has two schedules, `cron` and `every`; a job has one"),
        (r#"timezone = "UTC""#, "`timezone` needs `cron` or `unix_cron`"),
        (r#"every = "10""#, "`10` is not a duration; write a number and s, m, h or d, such as \"90s\" or \"5m\""),
        ("every = 10", "must be a duration in quotes, such as \"90s\""),
        (r#"every = "0s""#, "0 is not allowed; 1 to 31536000 seconds"),
        (r#"every = "10ms""#, "10 is not allowed; 50 to 3600000 milliseconds"),
        (
            r#"cron = "0 0 9 * * *", clock_changes = "xxl""#,
            "day-of-month and day-of-week fields (4 and 6): exactly one of them must be `?`, such as `0 0 9 ? * MON` \
             or `0 0 9 1 * ?`",
        ),
    ] {
        assert_eq!(problem(members), message, "{members}");
    }
}

#[test]
fn a_wrong_member_is_a_compile_error() {
    for (members, message) in [
        (r#"name = "Close""#, "'C' is not allowed; it has lower case letters, digits, `-`, `_` and `.`"),
        ("name = close", "must be a text in quotes"),
        ("retries = 101", "101 is not allowed; 0 to 100"),
        (r#"retries = "3""#, "must be a number"),
        ("retries = -1", "-1 is not allowed; 0 to 100"),
        ("max_concurrent = 0", "0 is not allowed; 1 to 1000"),
        ("priority = -3601", "-3601 is not allowed; -3600 to 3600"),
        (r#"limits = "api""#, "must be a list of texts, such as [\"a\", \"b\"]"),
        (r#"misfire = "run""#, "`run` is not allowed; allowed: fire_once, skip, fire_all, fire_within"),
        (r#"retries = 1, retries = 2"#, "`retries` is given twice"),
        (r#"tags = "a""#, "must be a list of texts, such as [\"a\", \"b\"]"),
        (r#"spread = "60s""#, "`spread` needs `cron` or `unix_cron` or `every` or `delay`"),
    ] {
        assert_eq!(problem(members), message, "{members}");
    }
    assert!(
        problem("colour = 1").starts_with("`colour` is no member of a declaration; allowed: name, app, library, after")
    );
}

#[test]
fn members_of_limits_become_calls() {
    let members = quote!(max_concurrent = 3, limits = ["api"], priority = -60);
    let code = expand(members, FUNCTION.parse().unwrap()).unwrap().to_string();
    assert!(code.contains(&quote!(.max_concurrent(3).limits(["api"]).priority(-60)).to_string()), "{code}");
}

#[test]
fn all_wrong_members_are_reported_at_once() {
    assert_eq!(problems_of(r#"retries = 101, misfire = "run", cron = "x""#, FUNCTION).len(), 3);
}

#[test]
fn only_a_free_async_function_is_a_job() {
    for (function, message) in [
        ("fn f() -> Result<(), JobError> { Ok(()) }", "a job is an async function: write `async fn`"),
        ("async fn f<T>() -> Result<(), JobError> { Ok(()) }", "a job has no generic parameters"),
        ("async fn f() {}", "a job returns a Result, such as `Result<(), JobError>`"),
        ("async fn f(&self) -> Result<(), JobError> { Ok(()) }", "a job is a function without self"),
        (
            "async fn f(a: A, b: B) -> Result<(), JobError> { Ok(()) }",
            "a job takes a `&JobContext` and one type of parameters, each at most once",
        ),
        (
            "async fn Close() -> Result<(), JobError> { Ok(()) }",
            "the function's name as the job's: 'C' is not allowed; it has lower case letters, digits, `-`, `_` and `.`; \
             give it a `name`",
        ),
    ] {
        assert_eq!(problems_of("", function), [message], "{function}");
    }
}

#[test]
fn the_function_stays_as_it_is_and_the_members_become_calls() {
    let members =
        quote!(name = "close-day", cron = "0 0 2 * * ?", timezone = "Europe/Berlin", retries = 2, timeout = "5m");
    let code = expand(members, FUNCTION.parse().unwrap()).unwrap().to_string();
    let function: proc_macro2::TokenStream = FUNCTION.parse().unwrap();
    assert!(code.starts_with(&function.to_string()), "{code}");
    let calls = quote!(
        ::carillon_executor::Declaration::new("close-day")
            .cron("0 0 2 * * ?")
            .timezone("Europe/Berlin")
            .retries(2)
            .timeout(::core::time::Duration::from_secs(300u64))
    );
    assert!(code.contains(&calls.to_string()), "{code}");
}
