use carillon_scheduler::ScheduleDraft;

use super::client::Console;
use super::run;

#[test]
fn a_time_is_explained_with_the_instants_around_it() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.schedule = ScheduleDraft::cron("0 0 3 * * ?", "Europe/Berlin")).await;
        let admin = console.admin().await;
        let page = admin.get("/jobs/1").await.body;
        assert!(page.contains("/jobs/1/explain\"") && page.contains("/jobs/1/backfill\""), "{page}");
        assert!(admin.get("/jobs/1/explain").await.body.contains("Choose a time"));
        // The job was made on 2025-10-09.
        let page = admin.get("/jobs/1/explain?at=2025-10-08T03:00:00").await.body;
        assert!(page.contains("before the job was made"), "{page}");
        let page = admin.get("/jobs/1/explain?at=2025-10-11T03:00").await.body;
        assert!(page.contains("no instant of the job"), "{page}");
        for at in ["2025-10-11T01:00:00.000Z", "2025-10-12T01:00:00.000Z"] {
            assert!(page.contains(&format!("/jobs/1/explain?at={at}")), "{at}: {page}");
        }
        let page = admin.get("/jobs/1/explain?at=2025-10-11T01:00:00.000Z").await.body;
        assert!(page.contains("not planned yet") && page.contains("value=\"2025-10-11T01:00:00\""), "{page}");
        let wrong = admin.get("/jobs/1/explain?at=noon").await;
        assert_eq!((wrong.status, wrong.error("at").unwrap().contains("is no time")), (400, true));
    });
}

#[test]
fn a_run_leads_to_its_explanation() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        let run = admin.submit("/jobs/1/run", &[("key", "k")]).await.location().to_owned();
        let page = admin.get(&run).await.body;
        let link = page.split("href=\"").map(|rest| rest.split('"').next().unwrap());
        let link = link.filter(|to| to.contains("/explain?at=")).last().unwrap().to_owned();
        let page = admin.get(&link).await.body;
        assert!(page.contains("started by hand") && page.contains(&format!("href=\"{run}\"")), "{page}");
    });
}
