//! The session ended while a form was filled in: after signing in the form is there again, with its text.

use carillon_accounts::setup::FIRST_ADMIN;

use crate::console::client::{Answer, Console, ConsoleClient};
use crate::console::forms::but;
use crate::console::run;

/// Signs in from the page that an answer shows, as its form would.
async fn sign_in_again(console: &Console, visitor: &ConsoleClient, page: &Answer) -> Answer {
    let unescape = |text: String| text.replace("&#38;", "&").replace("&#34;", "\"");
    let hidden = |name: &str| match page.body.contains(&format!("name=\"{name}\"")) {
        true => unescape(page.hidden(name)),
        false => String::new(),
    };
    let (next, kept_for, kept) = (hidden("next"), hidden("kept_for"), hidden("kept"));
    let fields = [
        ("name", FIRST_ADMIN),
        ("password", console.password.as_str()),
        ("zone", ""),
        ("next", &next),
        ("kept_for", &kept_for),
        ("kept", &kept),
    ];
    visitor.post("/login", Some(&console.url), &fields).await
}

/// Presses the button of the page that hands the form back.
async fn go_on(console: &Console, visitor: &ConsoleClient, page: &Answer) -> Answer {
    let form = page.body.split("data-testid=\"kept-form\"").nth(1).unwrap();
    let fields: Vec<(String, String)> = form
        .split("<input type=\"hidden\" name=\"")
        .skip(1)
        .map(|tag| {
            let (name, rest) = tag.split_once("\" value=\"").unwrap();
            let value = rest.split("\">").next().unwrap();
            let value = value.replace("&#34;", "\"").replace("&#38;", "&");
            (name.to_owned(), value)
        })
        .collect();
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let before = page.body.split("data-testid=\"kept-form\"").next().unwrap();
    let action = before.rsplit("action=\"").next().unwrap();
    let action = action.split('"').next().unwrap();
    visitor.post(action, Some(&console.url), &fields).await
}

// covers: A10
#[test]
fn a_form_that_was_filled_in_is_there_again_after_signing_in() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let visitor = console.admin().await;
        let text = "first & \"second\"\r\n100 % ä";
        let job = but(&[("params", text), ("name", "Typed for an hour")]);
        let mut edit = job.clone();
        edit.push(("revision", "1"));
        let run = [("params", text), ("key", "k")];
        let csrf = visitor.csrf().await;
        for (path, fields, shown) in [
            ("/jobs", &job[..], "<h1>New job</h1>"),
            ("/jobs/1/edit", &edit, "<h1>Edit job</h1>"),
            ("/jobs/1/run", &run, "<h1>Run once</h1>"),
        ] {
            visitor.submit("/logout", &[]).await;
            let fields: Vec<_> = fields.iter().copied().chain([("csrf", csrf.as_str()), ("step", "save")]).collect();
            let out = visitor.post(path, Some(&console.url), &fields).await;
            assert_eq!(out.status, 401, "{path}");
            assert!(out.body.contains("What you filled in is kept"), "{path}");
            let back = sign_in_again(&console, &visitor, &out).await;
            assert_eq!(back.status, 200, "{path}: {}", back.body);
            let form = go_on(&console, &visitor, &back).await;
            assert_eq!(form.status, 200, "{path}");
            assert!(form.body.contains(shown), "{path}");
            assert!(form.body.contains("first &#38; &#34;second&#34;\r\n100 % ä"), "{path}: {}", form.body);
        }
        assert!(console.store.jobs().get(2).await.unwrap().is_none(), "not saved");
        let first = console.store.jobs().get(1).await.unwrap().unwrap();
        assert_eq!((first.revision, first.draft.params.as_str()), (1, ""));
        assert_eq!(console.store.runs().newest_run().await.unwrap(), 0, "not run");
    });
}

// covers: A10
#[test]
fn a_wrong_password_in_between_loses_nothing() {
    run(async {
        let console = Console::start().await;
        let visitor = console.admin().await;
        visitor.submit("/logout", &[]).await;
        let own = Some(console.url.as_str());
        let out = visitor.post("/apps", own, &[("name", "billing")]).await;
        let kept = out.hidden("kept");
        let wrong = [("name", FIRST_ADMIN), ("password", "no"), ("kept_for", "/apps"), ("kept", &kept)];
        let again = visitor.post("/login", own, &wrong).await;
        assert_eq!(again.status, 401);
        let back = sign_in_again(&console, &visitor, &again).await;
        let form = go_on(&console, &visitor, &back).await;
        assert!(form.body.contains("value=\"billing\""), "{}", form.body);
        assert_eq!(console.store.apps().list(&carillon_store::VisibleApps::All).await.unwrap().len(), 1);
    });
}

// covers: A10
#[test]
fn an_action_without_text_leads_back_to_its_page() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let visitor = console.admin().await;
        let own = Some(console.url.as_str());
        for (path, fields, next) in [
            ("/jobs/1/disable", &[("next", "/jobs?app=orders")][..], "/jobs?app=orders"),
            ("/jobs/1/delete", &[], "/jobs/1/delete"),
        ] {
            visitor.submit("/logout", &[]).await;
            let out = visitor.post(path, own, fields).await;
            assert_eq!(out.status, 401, "{path}");
            assert!(out.body.contains("Nothing was changed"), "{path}");
            let back = sign_in_again(&console, &visitor, &out).await;
            assert_eq!((back.status, back.location()), (303, next), "{path}");
        }
        assert!(console.store.jobs().get(1).await.unwrap().unwrap().draft.enabled);
        // What is kept goes to forms of the console alone.
        let wrong = [
            ("name", FIRST_ADMIN),
            ("password", console.password.as_str()),
            ("kept_for", "/jobs/1/delete"),
            ("kept", "step=save"),
        ];
        visitor.submit("/logout", &[]).await;
        let answer = visitor.post("/login", own, &wrong).await;
        assert_eq!((answer.status, answer.location()), (303, "/"));
    });
}
