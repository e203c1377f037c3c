//! Addresses and filters that name nothing, and what is refused before signing in.

use super::{start, wrong};
use crate::console::client::Console;
use crate::console::run;

/// Addresses whose page says what is wrong with them.
const ADDRESSES: &[(&str, usize)] = &[
    ("/no/such/page", 1),
    ("/jobs/77", 1),
    ("/runs/77", 1),
    ("/apps/77", 1),
    ("/users/77", 1),
    ("/alerts/77", 1),
    ("/calendars/none/edit", 1),
    ("/reset?token=none", 1),
    ("/runs?job=abc&from=zzz&to=2026-02-31T10:00&state=broken&cause=magic&sort=up&tag=A%20B", 7),
    ("/runs?app=none", 1),
    ("/runs?text=a%00b", 1),
    ("/jobs?kind=weekly&state=on&result=good&sort=up&tag=A%20B", 4),
    ("/jobs?app=none", 1),
    ("/jobs/1/explain?at=soon", 1),
    ("/jobs/preview?kind=cron&expression=0+0+25+*+*+%3F&timezone=UTC", 1),
    ("/misfires?job=x&app=none&from=a&to=b&after=c", 5),
    ("/gaps?job=x", 1),
    ("/audit?action=x&kind=y&id=z&from=a&to=b", 5),
    ("/audit/export?action=x", 1),
    ("/audit/export?format=pdf", 1),
    ("/reports?days=0&group=week&sort=up&job=x", 4),
    ("/reports?app=none", 1),
    ("/reports/export?days=0", 1),
    ("/alerts/channels/new?kind=pigeon", 1),
];

#[test]
fn errors_of_addresses_and_filters_are_chinese() {
    run(async {
        let (_console, reader, _) = start().await;
        let mut found = vec![];
        for (path, least) in ADDRESSES {
            let answer = reader.get(path).await;
            found.extend(wrong(&reader, path, answer, *least).await);
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
    });
}

#[test]
fn errors_before_signing_in_are_chinese() {
    run(async {
        let console = Console::start().await;
        let visitor = console.visitor().with("accept-language", "zh-CN,zh;q=0.9");
        let mut found = vec![];
        for _ in 0..7 {
            let answer = visitor.sign_in("admin", "wrong").await;
            found.extend(wrong(&visitor, "/login", answer, 1).await);
        }
        let origin = visitor.url().to_owned();
        type Form<'a> = (&'a str, &'a [(&'a str, &'a str)], usize);
        let forms: &[Form<'_>] = &[
            ("/login/code", &[("handle", "none"), ("code", "none")], 1),
            ("/reset", &[("token", "none"), ("password", "x"), ("repeated", "x")], 1),
            ("/setup", &[("secret", "none"), ("name", "x"), ("password", "x"), ("repeated", "y")], 1),
        ];
        for (path, fields, least) in forms {
            let answer = visitor.post(path, Some(&origin), fields).await;
            found.extend(wrong(&visitor, path, answer, *least).await);
        }
        let foreign = visitor.post("/login", Some("https://evil.example"), &[]).await;
        found.extend(wrong(&visitor, "another origin", foreign, 1).await);
        assert!(found.is_empty(), "{}", found.join("\n"));
    });
}
