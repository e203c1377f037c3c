//! The page of a run shows what the run was given, and *Run again* gives the same.

use carillon_scheduler::Millis;
use sea_orm::ConnectionTrait as _;

use super::client::{Console, START};
use super::forms::but;
use super::run;

async fn sql(console: &Console, text: &str) {
    let path = console.config.data_dir.join("carillon.db");
    let database = sea_orm::Database::connect(format!("sqlite://{}", path.display()));
    database.await.unwrap().execute_unprepared(text).await.unwrap();
}

// covers: 001-36
#[test]
fn a_run_shows_how_late_it_was_sent_and_received_and_its_trace() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let page = admin.submit("/jobs/1/run", &[("key", "k")]).await;
        let path = page.location().to_owned();
        let shown = async |name: &str| {
            let body = admin.get(&path).await.body;
            let at = body.find(&format!("data-testid=\"{name}\""))?;
            Some(body[at..].split("</dd>").next().unwrap().to_owned())
        };
        assert_eq!((shown("late-sent").await, shown("late-received").await), (None, None), "it is not sent yet");
        sql(&console, "UPDATE run SET state = 2, sent_at = due_at + 12").await;
        assert!(shown("late-sent").await.unwrap().contains("12 ms"));
        assert!(shown("late-received").await.unwrap().contains("not known"));
        sql(&console, "UPDATE run SET received_at = due_at + 15").await;
        assert!(shown("late-received").await.unwrap().contains("15 ms"));
        let id: i64 = path.rsplit('/').next().unwrap().parse().unwrap();
        let stored = console.store.runs().get(id).await.unwrap().unwrap();
        let cluster = console.store.leases().cluster().await.unwrap();
        assert!(shown("traceparent").await.unwrap().contains(&stored.traceparent(&cluster).to_string()));
    });
}

// covers: A1
#[test]
fn a_run_of_yesterday_shows_and_repeats_the_parameters_of_yesterday() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.params = "2000".into()).await;
        let admin = console.admin().await;
        let fields = [("key", "k"), ("params", "2000")];
        let page = admin.submit("/jobs/1/run", &fields).await;
        let path = page.location().to_owned();
        let id = path.rsplit('/').next().unwrap().to_owned();
        let waiting = admin.get(&path).await.body;
        assert!(waiting.contains("as they are now: the run is not sent yet"));
        // As the mark and the result leave it.
        sql(&console, &format!("UPDATE run SET state = 9, revision = 1, marked_at = {START} WHERE id = {id}")).await;
        let edited = but(&[("params", "EDITED"), ("revision", "1")]);
        assert_eq!(admin.submit("/jobs/1/edit", &edited).await.status, 303);

        let page = admin.get(&path).await.body;
        assert!(page.contains("<pre class=\"params\">2000</pre>"), "{page}");
        assert!(page.contains("as the run was sent, version 1; version 2 has others"));
        assert!(!page.contains("EDITED"));
        let again = admin.get(&format!("/jobs/1/run?like={id}")).await.body;
        assert!(again.contains(">\n2000</textarea>"), "{again}");
        assert!(again.contains(&format!("The parameters of run {id};")));

        // Before revisions were noted.
        sql(&console, &format!("UPDATE run SET revision = NULL WHERE id = {id}")).await;
        let page = admin.get(&path).await.body;
        assert!(page.contains("not on record for this run") && !page.contains("EDITED"));
        let again = admin.get(&format!("/jobs/1/run?like={id}")).await.body;
        assert!(again.contains(">\nEDITED</textarea>"));
        assert!(again.contains(&format!("those of run {id} are not on record")));
    });
}

#[test]
fn the_next_fire_is_the_next_one_that_happens() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.schedule = carillon_scheduler::ScheduleDraft::fixed_rate(2)).await;
        let at = |seconds: i64| -> Millis { START + 1000 * seconds };
        sql(&console, &format!("UPDATE job_clock SET next_fire_at = {}", at(6))).await;
        for seconds in [0, 2, 4] {
            sql(&console, &format!(
                "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends) \
                 SELECT {seconds} + 1, id, app_id, shard, 0, {0}, 0, 1, 1, {0}, {0}, 0, 1, 0 FROM job", at(seconds)
            ))
            .await;
        }
        let admin = console.admin().await;
        for path in ["/jobs", "/"] {
            let page = admin.get(path).await.body;
            assert!(page.contains(">in 2 s</time>"), "{path}: {page}");
            assert!(!page.contains(">in 6 s</time>"), "{path}");
        }
        // Between two rounds of a node.
        sql(&console, "DELETE FROM run").await;
        sql(&console, &format!("UPDATE job_clock SET next_fire_at = {}", at(-1))).await;
        for path in ["/jobs", "/"] {
            let page = admin.get(path).await.body;
            assert!(page.contains(">due now</time>") && !page.contains(">1 s ago</time>"), "{path}: {page}");
        }
        assert!(admin.get("/").await.body.contains("No job is failing now."), "no job has run yet");
    });
}

/// What a browser sends for this job's form, whose texts it writes with CR LF.
fn unchanged(params: &str, description: &str) -> Vec<(&'static str, String)> {
    let sent = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    let mut fields: Vec<(&str, String)> = but(&[]).into_iter().map(|(name, value)| (name, value.to_owned())).collect();
    fields.retain(|(name, _)| !["params", "description"].contains(name));
    fields.extend([("params", sent(params)), ("description", sent(description))]);
    fields
}

#[test]
fn r052b_a_form_that_is_saved_unchanged_keeps_each_byte() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        for params in ["a=1\r\nb=2", "a=1\nb=2", "a=1\r\nb=2\nc=3\r\n"] {
            let job = console.job(|job| (job.params, job.description) = (params.into(), "one\r\ntwo".into())).await;
            let path = format!("/jobs/{}/edit", job.id);
            let save = async |params: &str| {
                let revision = console.store.jobs().get(job.id).await.unwrap().unwrap().revision.to_string();
                let mut fields = unchanged(params, "one\r\ntwo");
                fields.push(("revision", revision));
                let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
                assert_eq!(admin.submit(&path, &fields).await.status, 303);
                console.store.jobs().get(job.id).await.unwrap().unwrap().draft
            };
            let saved = save(params).await;
            assert_eq!((saved.params.as_str(), saved.description.as_str()), (params, "one\ntwo"));
            assert_eq!(save("a=9\nb=2").await.params, "a=9\nb=2", "a changed text has the plain line ends");
        }
    });
}

#[test]
fn r052m_a_run_by_hand_gets_the_parameters_that_the_schedule_would_send() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|job| job.params = "a=1\r\nb=2".into()).await;
        let admin = console.admin().await;
        let given = async |key: &str, params: &str, rerun_of: &str| {
            let fields = [("key", key), ("params", params), ("rerun_of", rerun_of)];
            let answer = admin.submit(&format!("/jobs/{}/run", job.id), &fields).await;
            let id = answer.location().rsplit('/').next().unwrap().parse().unwrap();
            let run = console.store.runs().get(id).await.unwrap().unwrap();
            (id, console.store.runs().params_of(&run).await.unwrap().text().unwrap().to_owned(), run.params)
        };
        let (_, text, own) = given("k", "a=1\r\nb=2", "").await;
        assert_eq!((text.as_str(), own), ("a=1\r\nb=2", None), "those of the job");
        let (like, text, _) = given("l", "c=3\r\nd=4", "").await;
        assert_eq!(text, "c=3\nd=4");
        sql(
            &console,
            &format!("UPDATE run_input SET params = 'c=3' || char(13) || char(10) || 'd=4' WHERE run_id = {like}"),
        )
        .await;
        let (_, text, _) = given("m", "c=3\r\nd=4", &like.to_string()).await;
        assert_eq!(text, "c=3\r\nd=4", "those of the run that is repeated");
    });
}
