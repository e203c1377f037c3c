//! A form that is saved as it was opened changes nothing.

use carillon_scheduler::ScheduleDraft;

use super::client::{Console, ConsoleClient};
use super::conflict::{filled, save, with};
use super::forms::but;
use super::run;

/// In the second pass of an hour that comes twice in Berlin: 02:30 on 2026-10-25.
const SECOND: i64 = 1_792_891_800_000;

async fn set_zone(admin: &ConsoleClient, zone: &str) {
    let answer = admin.submit("/preferences", &[("zone", zone), ("next", "/account")]).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
}

/// The fields of the form as a browser sends them when nothing is typed.
async fn unchanged(admin: &ConsoleClient) -> Vec<(String, String)> {
    let fields = filled(&admin.get("/jobs/1/edit").await);
    let as_sent = |(name, text): (String, String)| {
        let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n");
        let text = match name.as_str() {
            // A browser writes whole minutes without seconds, and one line without line ends.
            "at" | "start_at" | "end_at" => lines.strip_suffix(":00").unwrap_or(&lines).to_owned(),
            "expression" => lines.replace("\r\n", ""),
            _ => lines,
        };
        (name, text)
    };
    fields.into_iter().map(as_sent).collect()
}

// covers: R052
#[test]
fn an_instant_in_a_repeated_hour_stays_also_if_the_viewers_zone_has_changed() {
    for schedule in [ScheduleDraft::once(SECOND), {
        let mut rate = ScheduleDraft::fixed_rate(60);
        (rate.start_at, rate.end_at) = (Some(SECOND), Some(SECOND + 1_800_000));
        rate
    }] {
        run(async {
            let console = Console::start().await;
            let job = console.job(|job| (job.schedule, job.description) = (schedule, "a\rb\nc".to_owned())).await;
            let stored = async || console.store.jobs().get(1).await.unwrap().unwrap().draft;
            let admin = console.admin().await;
            set_zone(&admin, "Europe/Berlin").await;
            let fields = unchanged(&admin).await;
            assert!(fields.iter().any(|(_, text)| text == "2026-10-25T02:30"), "{fields:?}");
            assert_eq!(save(&admin, &fields).await.status, 303);
            assert_eq!(stored().await, job.draft);
            // The zone is changed in another window while the form is open.
            let fields = with(unchanged(&admin).await, "name", "Renamed");
            set_zone(&admin, "Asia/Tokyo").await;
            assert_eq!(save(&admin, &fields).await.status, 303);
            let renamed = stored().await;
            assert_eq!((renamed.name.as_str(), &renamed.schedule), ("Renamed", &job.draft.schedule));
            // A form that comes back with an error is still in its own zone.
            let again = save(&admin, &with(fields, "name", "")).await;
            assert_eq!((again.status, again.hidden("times_in").as_str()), (422, "Europe/Berlin"));
        });
    }
}

#[test]
fn an_expression_on_several_lines_is_stored_on_one() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|job| job.schedule = ScheduleDraft::cron("0 0 9\n* * ?", "UTC")).await;
        let admin = console.admin().await;
        let fields = unchanged(&admin).await;
        let saved = save(&admin, &fields).await;
        assert_eq!(saved.status, 303, "{:?}", saved.error("expression"));
        let stored = console.store.jobs().get(1).await.unwrap().unwrap();
        assert_eq!(stored.draft.schedule, job.draft.schedule);
        assert_eq!(stored.draft.schedule, ScheduleDraft::cron("0 0 9 * * ?", "UTC"));
    });
}

// covers: R055
#[test]
fn a_long_name_fits_the_form_and_a_copy_keeps_what_fits() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.name = "n".repeat(255)).await;
        let admin = console.admin().await;
        let copy = admin.get("/jobs/1/copy").await.body;
        assert!(copy.contains(&format!("value=\"{} (copy)\"", "n".repeat(248))), "{copy}");
        let name = copy.split("id=\"name\"").nth(1).unwrap().split('>').next().unwrap();
        assert!(name.contains("maxlength=\"510\""), "a character may count twice for a browser: {name}");
        let fields = filled(&admin.get("/jobs/1/edit").await);
        assert_eq!(save(&admin, &fields).await.status, 303);
    });
}

// covers: J13
#[test]
fn a_job_of_files_keeps_its_set_and_its_form_warns() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.set = "billing.files".to_owned()).await;
        let admin = console.admin().await;
        assert!(admin.get("/jobs/1").await.body.contains("<code>billing.files</code>"));
        let form = admin.get("/jobs/1/edit").await;
        assert!(form.body.contains("data-testid=\"set\"") && form.body.contains("billing.files"), "{}", form.body);
        let revision = form.hidden("revision");
        let mut fields = but(&[("name", "other")]);
        fields.push(("revision", &revision));
        assert_eq!(admin.submit("/jobs/1/edit", &fields).await.status, 303);
        let job = console.store.jobs().get(1).await.unwrap().unwrap();
        assert_eq!((&*job.draft.name, &*job.draft.set), ("other", "billing.files"));
        let copy = admin.get("/jobs/1/copy").await.body;
        assert!(!copy.contains("billing.files"), "no files define a copy");
    });
}
