//! The gap audit says of which jobs it speaks.

use carillon_scheduler::ScheduleDraft;

use crate::console::client::Console;
use crate::console::run;

// covers: B10
#[test]
fn no_differences_are_claimed_of_the_jobs_that_were_checked_alone() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        console.job(|job| job.schedule = ScheduleDraft::cron("0 0 0 1 1 ?", "UTC")).await;
        assert!(admin.get("/gaps").await.body.contains("<h2>No differences</h2>"));
        for _ in 0..100 {
            console.job(|job| job.schedule = ScheduleDraft::cron("0 0 0 1 1 ?", "UTC")).await;
        }
        let page = admin.get("/gaps").await.body;
        assert!(page.contains("<h2>No differences in the first 100 of 101 jobs</h2>"), "{page}");
        let next = page.split("rel=\"next\"").next().unwrap().rsplit("href=\"").next().unwrap();
        let next = next.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
        let page = admin.get(&next).await.body;
        assert!(page.contains("<h2>No differences in these 1 of 101 jobs</h2>"), "{page}");
    });
}
