//! A new job that is like another one, or that starts from a template.

use carillon_scheduler::{JobTemplate, ScheduleDraft};

use super::client::{Answer, Console, ConsoleClient};
use super::conflict::{filled, with};
use super::run;

async fn create(admin: &ConsoleClient, fields: &[(String, String)]) -> Answer {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
    admin.submit("/jobs", &fields).await
}

/// The rows of the table of differences: a field, and its values in the original and in the new job.
fn differences(page: &str) -> Vec<Vec<String>> {
    let Some(table) = page.split("data-testid=\"unlike\"").nth(1) else { return vec![] };
    let body = table.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let cell = |text: &str| text.split_once('>').unwrap().1.split('<').next().unwrap().to_owned();
    let row = |row: &str| row.split("<t").skip(1).map(cell).collect();
    body.split("<tr>").skip(1).map(row).collect()
}

// covers: 002-1
#[test]
fn what_differs_from_the_original_is_shown_before_a_new_job_is_saved() {
    run(async {
        let console = Console::start().await;
        let original = console
            .job(|job| {
                job.schedule = ScheduleDraft::cron("0 0 3 * * ?", "UTC");
                job.key = "close-day".to_owned();
            })
            .await;
        let admin = console.admin().await;
        let page = admin.get("/jobs/1").await.body;
        assert!(page.contains("href=\"/jobs/1/copy\"") && page.contains("New job like this one"));
        let form = admin.get("/jobs/1/copy").await;
        assert!(form.body.contains("Differences from Close the day") && !form.body.contains("unlike-first"));
        let of_a_copy =
            [["Name", "Close the day", "Close the day (copy)"], ["Key", "close-day", "–"], ["Enabled", "Yes", "No"]];
        let lower = |rows: Vec<Vec<String>>| format!("{rows:?}").to_lowercase();
        let expected = |rows: &[[&str; 3]]| format!("{rows:?}").to_lowercase();
        assert_eq!(lower(differences(&form.body)), expected(&of_a_copy));

        // Another difference is shown first; nothing is saved yet.
        let changed = with(filled(&form), "retries", "4");
        let shown = create(&admin, &changed).await;
        assert_eq!(shown.status, 200, "{}", shown.body);
        assert!(shown.body.contains("data-testid=\"unlike-first\"") && shown.body.contains("action=\"/jobs\""));
        let rows = differences(&shown.body);
        assert!(rows.contains(&["Retries", "0", "4"].map(str::to_owned).to_vec()), "{rows:?}");
        assert_eq!(rows.len(), of_a_copy.len() + 1);
        assert!(console.store.jobs().get(2).await.unwrap().is_none());

        // A mistake keeps the original in mind.
        let wrong = create(&admin, &with(filled(&shown), "name", "")).await;
        assert_eq!((wrong.status, wrong.hidden("like").as_str()), (422, "1"));
        let saved = create(&admin, &filled(&shown)).await;
        assert_eq!((saved.status, saved.location()), (303, "/jobs/2"));
        let new = console.store.jobs().get(2).await.unwrap().unwrap();
        assert_eq!((new.draft.retries, new.draft.enabled, new.draft.key.as_str()), (4, false, ""));
        assert_eq!(new.draft.schedule, original.draft.schedule);

        // What the form has shown from the beginning is saved at once.
        let saved = create(&admin, &filled(&admin.get("/jobs/1/copy").await)).await;
        assert_eq!((saved.status, saved.location()), (303, "/jobs/3"));
    });
}

#[test]
fn the_original_may_be_gone_when_the_new_job_is_saved() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let fields = with(filled(&admin.get("/jobs/1/copy").await), "retries", "4");
        assert_eq!(admin.submit("/jobs/1/delete", &[]).await.status, 303);
        assert_eq!(create(&admin, &fields).await.status, 303);
    });
}

// covers: 002-1
#[test]
fn each_template_makes_a_valid_job_in_both_languages() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let mut id = 0;
        for (language, names) in [
            ("en", ["Report each night", "Poll each minute", "Long cleanup"]),
            ("zh", ["每晚报表", "每分钟轮询", "长时间清理"]),
        ] {
            admin.submit("/preferences", &[("language", language), ("next", "/jobs")]).await;
            let new = admin.get("/jobs/new?app=orders").await.body;
            for (template, name) in JobTemplate::ALL.iter().zip(names) {
                let link = format!("href=\"/jobs/new?template={template}&amp;app=orders\"");
                assert!(new.contains(&link) && new.contains(name), "{language}: {template}");
                let form = admin.get(&format!("/jobs/new?template={template}&app=orders")).await;
                let saved = create(&admin, &filled(&form)).await;
                assert_eq!(saved.status, 303, "{language}: {template}: {}", saved.body);
                id += 1;
                let draft = console.store.jobs().get(id).await.unwrap().unwrap().draft;
                assert_eq!((draft.app.as_str(), draft.name.as_str()), ("orders", name));
                assert!(!draft.description.is_empty() && draft.enabled);
                let mut plain = template.draft("UTC");
                plain.schedule = draft.schedule.clone();
                assert_eq!(draft.schedule.kind(), template.draft("UTC").schedule.kind());
                (plain.app, plain.name, plain.description) =
                    (draft.app.clone(), draft.name.clone(), draft.description.clone());
                assert_eq!(draft, plain, "{language}: {template}");
            }
        }
        let page = admin.get("/jobs/new?template=none&app=orders").await;
        assert!(page.status == 200 && page.body.contains("data-testid=\"templates\""));
    });
}
