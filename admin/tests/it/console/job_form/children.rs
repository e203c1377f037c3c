//! Child jobs and the retry delay in the form of a job: controls of their own, with errors beside them.

use super::client::{Answer, Console, ConsoleClient};
use super::forms::but;
use super::run;

/// Two jobs of one name, one of another name, and one of another app.
async fn four_jobs() -> (Console, ConsoleClient) {
    let console = Console::start().await;
    for name in ["Settle", "Report", "Report"] {
        console.job(|job| job.name = name.into()).await;
    }
    let admin = console.admin().await;
    admin.submit("/apps", &[("name", "billing")]).await;
    let billing = console.store.apps().by_name("billing").await.unwrap().unwrap();
    let let_in = admin.submit(&format!("/apps/{}/starters", billing.id), &[("starters", "orders")]).await;
    assert_eq!((let_in.status, let_in.location()), (303, format!("/apps/{}", billing.id).as_str()));
    assert!(
        admin
            .get(let_in.location())
            .await
            .body
            .contains("id=\"starters\" name=\"starters\" class=\"code\" value=\"orders\"")
    );
    let wrong = admin.submit(&format!("/apps/{}/starters", billing.id), &[("starters", "orders, nowhere")]).await;
    assert_eq!(wrong.error("starters"), Some("there is no other app `nowhere`"));
    let archive = but(&[("app", "billing"), ("name", "Archive")]);
    assert_eq!(admin.submit("/jobs", &archive).await.location(), "/jobs/4");
    (console, admin)
}

async fn children(console: &Console, answer: &Answer) -> Vec<i64> {
    let id = answer.location().rsplit('/').next().unwrap().parse().unwrap();
    console.store.jobs().get(id).await.unwrap().unwrap().draft.children
}

#[test]
fn a_child_job_is_chosen_by_its_name() {
    run(async {
        let (console, admin) = four_jobs().await;
        for (name, id) in [("Settle", 1), (" Archive ", 4), ("Report (orders #2)", 2), ("#3", 3), ("3", 3)] {
            let made = admin.submit("/jobs", &but(&[("child_name", name)])).await;
            assert_eq!(made.status, 303, "{name}: {}", made.body);
            assert_eq!(children(&console, &made).await, [id], "{name}");
        }
        let made = admin.submit("/jobs", &but(&[("children", "1"), ("child_name", "Archive")])).await;
        assert_eq!(children(&console, &made).await, [1, 4], "ids are posted as before");
        let page = admin.get(made.location()).await.body;
        for link in ["<a href=\"/jobs/1\">Settle (orders #1)</a>", "<a href=\"/jobs/4\">Archive (billing #4)</a>"] {
            assert!(page.contains(link), "{link}");
        }
        let edit = format!("{}/edit", made.location());
        let form = admin.get(&edit).await.body;
        assert!(form.contains("name=\"children\" value=\"4\" checked>Archive (billing #4)"), "{form}");
        let unticked = but(&[("children", "4"), ("revision", "1")]);
        assert_eq!(admin.submit(&edit, &unticked).await.status, 303);
        assert_eq!(children(&console, &made).await, [4]);
    });
}

#[test]
fn a_name_of_no_job_or_of_several_is_refused_beside_its_field() {
    run(async {
        let (console, admin) = four_jobs().await;
        for (name, text) in [
            ("nothing", "No job is called “nothing”."),
            ("Report", "Several jobs are called “Report”. Write the id of one: #3 (orders), #2 (orders)."),
            ("#99", "There is no job #99."),
        ] {
            let answer = admin.submit("/jobs", &but(&[("children", "1"), ("child_name", name)])).await;
            let found = answer.error("child_name").unwrap_or_default();
            assert!(answer.status == 422 && found.contains(text), "{name}: {found}");
            let typed = format!("name=\"child_name\" value=\"{name}\"");
            assert!(answer.body.contains(&typed), "{name}: what was typed stays");
            assert!(answer.body.contains("name=\"children\" value=\"1\" checked"), "{name}: what was chosen stays");
        }
        let gone = admin.submit("/jobs", &but(&[("children", "99")])).await;
        assert!(gone.status == 422 && gone.error("children").is_some(), "{}", gone.body);
        assert!(gone.body.contains("deleted or hidden job #99"));
        assert!(console.store.jobs().get(5).await.unwrap().is_none(), "nothing is saved");
    });
}

#[test]
fn a_child_job_is_added_to_a_form_that_is_not_finished() {
    run(async {
        let (console, admin) = four_jobs().await;
        let half = [("kind", "cron"), ("retries", "4"), ("child_name", "Settle"), ("step", "add_child")];
        let form = admin.submit("/jobs", &half).await;
        assert_eq!((form.status, form.body.matches("field-error").count()), (200, 0), "{}", form.body);
        assert!(form.body.contains("value=\"1\" checked>Settle (orders #1)"));
        assert!(form.body.contains("name=\"child_name\" value=\"\"") && form.body.contains("value=\"4\""));
        let wrong = [("kind", "cron"), ("child_name", "nothing"), ("step", "add_child")];
        let form = admin.submit("/jobs", &wrong).await;
        assert!(form.status == 422 && form.error("child_name").is_some() && form.error("name").is_none());
        assert!(console.store.jobs().get(5).await.unwrap().is_none(), "nothing is saved");
    });
}

#[test]
fn names_are_offered_while_they_are_typed_and_never_too_many() {
    run(async {
        let (console, admin) = four_jobs().await;
        let options = async |query: &str| {
            let body = admin.get(&format!("/jobs/names?{query}")).await.body;
            let values = body.split("<option value=\"").skip(1);
            values.map(|rest| rest.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(options("app=orders&text=sett").await, ["Settle (orders #1)"]);
        assert_eq!(options("app=billing").await, ["Archive (billing #4)"]);
        assert_eq!(options("").await.len(), 4);
        for number in 0..60 {
            console.job(|job| job.name = format!("one of many {number}")).await;
        }
        assert_eq!(options("app=orders").await.len(), 50);
        assert_eq!(options("app=orders&text=sett").await, ["Settle (orders #1)"], "found among many");
        let body = admin.get("/jobs/new?app=orders").await.body;
        // A list for the nodes of a workflow, and one for child jobs.
        for list in body.split("<datalist").skip(1) {
            assert!(list.matches("<option value=\"one of many").count() <= 50);
        }
    });
}

#[test]
fn a_second_job_of_the_same_name_is_pointed_out() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.name = "Settle".into()).await;
        let admin = console.admin().await;
        let made = admin.submit("/jobs", &but(&[])).await;
        let page = admin.get(made.location()).await.body;
        assert!(page.contains("Settle is created. Another job of orders has the same name: #1."), "{page}");
    });
}

#[test]
fn a_retry_delay_is_a_kind_and_its_numbers() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let numbers = [("retry_base", "9"), ("retry_cap", "90"), ("retry_seconds", "60"), ("retry_list", "10, 60 600")];
        for (kind, text, shown) in [
            ("exponential", "exponential 9 90", "Exponential: 9 seconds, doubled with each retry, at most 1 min 30 s"),
            ("fixed", "fixed 60", "Fixed: 1 minute before each retry"),
            ("list", "fixed 10 60 600", "List: 10 s, 1 min, 10 min"),
        ] {
            let mut fields = but(&numbers);
            fields.push(("retry_kind", kind));
            let made = admin.submit("/jobs", &fields).await;
            assert_eq!(made.status, 303, "{kind}: {}", made.body);
            let id = made.location().rsplit('/').next().unwrap().parse().unwrap();
            let draft = console.store.jobs().get(id).await.unwrap().unwrap().draft;
            assert_eq!(draft.retry_delay.to_string(), text);
            assert!(admin.get(made.location()).await.body.contains(shown), "{kind}");
            let form = admin.get(&format!("{}/edit", made.location())).await.body;
            assert!(form.contains(&format!("value=\"{kind}\" selected")), "{kind}");
        }
        for (changes, field, text) in [
            (&[("retry_kind", "exponential"), ("retry_base", "5x")][..], "retry_base", "“5x” is not a time"),
            (&[("retry_base", "600"), ("retry_cap", "60")], "retry_cap", "shorter than the first delay"),
            (&[("retry_kind", "fixed"), ("retry_seconds", "")], "retry_seconds", "Write the seconds"),
            (&[("retry_kind", "list"), ("retry_list", "10, soon")], "retry_list", "“soon” is not a time"),
            (&[("retry_kind", "never")], "retry_kind", "allowed: exponential, fixed, list"),
        ] {
            let answer = admin.submit("/jobs", &but(changes)).await;
            let found = answer.error(field).unwrap_or_default();
            assert!(answer.status == 422 && found.contains(text), "{field}: {found}");
            assert_eq!(answer.body.matches("class=\"field-error\"").count(), 1, "{field}: one error, beside its field");
            let (_, typed) = changes.last().unwrap();
            assert!(field == "retry_kind" || answer.body.contains(&format!("value=\"{typed}\"")), "{field}");
        }
    });
}

#[test]
fn a_common_slip_of_a_schedule_is_answered_with_its_cure() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for (changes, field, text) in [
            (
                &[("expression", "*/5 * * * *")][..],
                "expression",
                "has 5 fields: choose Unix cron above, or put the seconds in front: `0 */5 * * * *`",
            ),
            (&[("timezone", "asia/shanghai")], "timezone", "did you mean Asia/Shanghai?"),
            (&[("timezone", "GMT+8")], "timezone", "did you mean Etc/GMT-8?"),
        ] {
            let answer = admin.submit("/jobs", &but(changes)).await;
            let found = answer.error(field).unwrap_or_default();
            assert!(answer.status == 422 && found.contains(text), "{field}: {found}");
        }
    });
}

// covers: B2, W5
#[test]
fn a_move_that_would_stop_a_chain_is_refused_and_a_chain_moves_as_a_whole() {
    run(async {
        let (console, admin) = four_jobs().await;
        let parent = admin.submit("/jobs", &but(&[("children", "4")])).await;
        assert_eq!(parent.location(), "/jobs/5");
        admin.submit("/apps", &[("name", "sales")]).await;
        let moved = [("children", "4"), ("app", "sales"), ("revision", "1")];
        let refused = admin.submit("/jobs/5/edit", &but(&moved)).await;
        let why = "job 5 would no longer start its child 4: app billing does not let jobs of app sales start its jobs";
        assert_eq!((refused.status, refused.error("children")), (422, Some(why)));
        let without = admin.submit("/jobs/5/edit", &but(&[("app", "sales"), ("revision", "99")])).await;
        assert_eq!(without.error("children"), None, "without the child nothing stops");
        let child = [("name", "Archive"), ("app", "sales"), ("revision", "1")];
        let refused = admin.submit("/jobs/4/edit", &but(&child)).await;
        let why = "job 5 would no longer start its child 4: app sales does not let jobs of app orders start its jobs";
        assert_eq!((refused.status, refused.error("app")), (422, Some(why)));
        let bulk = |ids: &[&'static str]| {
            let fixed = [("step", "do"), ("action", "move"), ("to", "sales")];
            fixed.into_iter().chain(ids.iter().map(|id| ("id", *id))).collect::<Vec<_>>()
        };
        let refused = admin.submit("/jobs/bulk", &bulk(&["1", "4"])).await;
        assert!(refused.body.contains("1 of 2 done") && refused.body.contains(why), "{}", refused.body);
        let done = admin.submit("/jobs/bulk", &bulk(&["4", "5"])).await;
        assert_eq!(done.status, 303, "{}", done.body);
        for id in [4, 5] {
            assert_eq!(console.store.jobs().get(id).await.unwrap().unwrap().draft.app, "sales");
        }
    });
}

// covers: W5
#[test]
fn a_child_that_is_not_started_says_so_on_both_jobs_and_on_its_app() {
    run(async {
        let (console, admin) = four_jobs().await;
        admin.submit("/jobs", &but(&[("children", "4")])).await;
        let says = async |path: &str, text: &str| admin.get(path).await.body.contains(text);
        let (child, parent) = ("not started: its app does not let jobs of this app", "does not start this job");
        assert!(!says("/jobs/5", child).await && !says("/jobs/4", parent).await);
        let billing = console.store.apps().by_name("billing").await.unwrap().unwrap();
        let page = format!("/apps/{}", billing.id);
        assert!(!says(&page, "data-testid=\"unstarted\"").await);
        admin.submit(&format!("{page}/starters"), &[("starters", "")]).await;
        assert!(says("/jobs/5", child).await && says("/jobs/4", parent).await);
        assert!(says(&page, "<li><a href=\"/jobs/4\">Archive (billing #4)</a></li>").await);
        let question = admin.submit("/jobs/bulk", &[("step", "ask"), ("action", "delete"), ("id", "4")]).await;
        let parents = question.body.split("data-testid=\"parents\"").nth(1).unwrap();
        assert!(parents.split("</ul>").next().unwrap().contains("(orders #5)"), "{parents}");
        let both = [("step", "ask"), ("action", "delete"), ("id", "4"), ("id", "5")];
        assert!(!admin.submit("/jobs/bulk", &both).await.body.contains("data-testid=\"parents\""));
    });
}
