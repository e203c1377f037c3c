//! The page of a script: the right to it, and the password that each new source needs.

use carillon_accounts::people;
use carillon_store::Actor;

use crate::console::client::Console;
use crate::console::run;

// covers: S26
#[test]
fn a_script_is_saved_with_the_password_of_a_person_with_the_right_to_scripts() {
    run(async {
        let console = Console::with(|config| config.engine.scripts = true).await;
        let job = console.job(|_| {}).await;
        let page = format!("/jobs/{}/script", job.id);
        let admin = console.admin().await;
        assert_eq!(admin.get(&page).await.status, 403, "no role includes the right");
        let account = console.store.people().accounts().await.unwrap().remove(0);
        let grants = "all:admin all:script".parse().unwrap();
        people::set_grants(&console.store, account.id, &grants, 0, &Actor::engine()).await.unwrap();
        let admin = console.admin().await;
        assert_eq!(admin.get(&page).await.status, 200);
        let fields =
            [("type", "shell"), ("source", "echo 1\r\necho 2"), ("remark", "first version"), ("revision", "1")];
        let save = async |more: &[(&str, &str)]| admin.submit(&page, &[&fields[..], more].concat()).await;
        let wrong = &[("own_password", "another password")][..];
        for (password, text) in [(&[][..], "Your password is missing."), (wrong, "This is not your password.")] {
            let answer = save(password).await;
            assert_eq!((answer.status, answer.error("own_password")), (422, Some(text)));
        }
        let stored = async || console.store.jobs().get(job.id).await.unwrap().unwrap();
        assert_eq!(stored().await.draft.script, None);
        let answer = save(&[("own_password", &console.password)]).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let first = stored().await;
        let version = first.draft.script.as_ref().unwrap().version.unwrap();
        let source = console.store.jobs().script_source(job.id, version).await.unwrap();
        assert_eq!((first.draft.handler.as_str(), source.as_deref()), ("", Some("echo 1\necho 2")));
        // The form of the job keeps the script, and needs no password.
        let edit = format!("/jobs/{}/edit", job.id);
        let fields =
            [("app", &*first.draft.app), ("name", "other"), ("handler", ""), ("kind", "none"), ("revision", "2")];
        let answer = admin.submit(&edit, &fields).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let second = stored().await;
        assert_eq!((second.draft.name.as_str(), &second.draft.script), ("other", &first.draft.script));
        // Another source, and the page of the former one.
        let fields = [("type", "shell"), ("source", "echo 3"), ("remark", "second version"), ("revision", "3")];
        let password = [("own_password", &*console.password)];
        let answer = admin.submit(&page, &[&fields[..], &password[..]].concat()).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let former = admin.get(&format!("{page}?version={version}")).await;
        assert!(former.body.contains("data-testid=\"differences\"") && former.body.contains("echo 2"));
        // The history restores no script without the password.
        let history = format!("/jobs/{}/history/2/restore", job.id);
        assert!(admin.get(&history).await.body.contains("id=\"own_password\""));
        let answer = admin.submit(&history, &[("revision", "4")]).await;
        assert_eq!((answer.status, answer.error("own_password")), (422, Some("Your password is missing.")));
        let answer = admin.submit(&history, &[("revision", "4"), password[0]]).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let third = stored().await.draft.script.unwrap().version.unwrap();
        let source = console.store.jobs().script_source(job.id, third).await.unwrap();
        assert_eq!(source.as_deref(), Some("echo 1\necho 2"));
        // The name alone: no script, and no password.
        let name = format!("/jobs/{}/history/1/restore", job.id);
        assert!(!admin.get(&name).await.body.contains("id=\"own_password\""));
    });
}

// covers: S26
#[test]
fn a_new_job_has_a_handler_or_a_script() {
    run(async {
        let console = Console::with(|config| config.engine.scripts = true).await;
        let job = console.job(|_| {}).await;
        let choice = |body: &str| body.contains("id=\"runs-script\"");
        let admin = console.admin().await;
        assert!(!choice(&admin.get("/jobs/new").await.body), "the right to scripts is missing");
        let account = console.store.people().accounts().await.unwrap().remove(0);
        let grants = "all:admin all:script".parse().unwrap();
        people::set_grants(&console.store, account.id, &grants, 0, &Actor::engine()).await.unwrap();
        let admin = console.admin().await;
        assert!(choice(&admin.get("/jobs/new").await.body));
        assert!(!choice(&admin.get(&format!("/jobs/{}/edit", job.id)).await.body), "a stored job has a page for it");
        let fields = [("app", &*job.draft.app), ("name", "clean up"), ("handler", "ignored"), ("kind", "none")];
        let script = [("runs", "script"), ("type", "python"), ("source", "print(1)"), ("remark", "first version")];
        let save =
            async |more: &[(&str, &str)]| admin.submit("/jobs", &[&fields[..], &script[..], more].concat()).await;
        let answer = save(&[]).await;
        assert_eq!((answer.status, answer.error("own_password")), (422, Some("Your password is missing.")));
        assert!(
            answer.body.contains("print(1)") && answer.body.contains("id=\"runs-script\" value=\"script\" checked")
        );
        let answer = save(&[("own_password", &console.password)]).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        let made = console.store.jobs().get(job.id + 1).await.unwrap().unwrap();
        let version = made.draft.script.as_ref().unwrap().version.unwrap();
        let source = console.store.jobs().script_source(made.id, version).await.unwrap();
        assert_eq!((made.draft.handler.as_str(), source.as_deref()), ("", Some("print(1)")));
        let copy = admin.get(&format!("/jobs/{}/copy", made.id)).await.body;
        assert!(copy.contains("print(1)") && copy.contains("value=\"script\" checked"));
    });
}
