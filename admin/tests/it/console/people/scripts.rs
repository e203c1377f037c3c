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
        for password in [&[][..], &[("own_password", "another password")][..]] {
            let answer = save(password).await;
            assert_eq!((answer.status, answer.error("own_password")), (422, Some("This is not your password.")));
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
        assert_eq!(admin.submit(&history, &[("revision", "4")]).await.status, 403);
    });
}
