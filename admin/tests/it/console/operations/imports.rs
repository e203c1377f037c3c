use carillon_import::xxl_job::{ImportRecord, RAN, RecordedCode, RecordedRow};
use carillon_store::import::origins::NewOrigin;
use carillon_store::import::reports::StoredReport;

use super::client::Console;
use super::run;

fn record() -> ImportRecord {
    let row = |of: &str, text: &str, job_id| RecordedRow { of: of.to_owned(), text: text.to_owned(), job_id };
    let code = |code: &str, rows| RecordedCode { code: code.to_owned(), rows };
    ImportRecord {
        releases: "3.4".to_owned(),
        zone_agrees: 2,
        zone_of: 3,
        created: 2,
        changed: 0,
        unchanged: 0,
        findings: vec![
            code("B2", vec![row("job 18", "PARALLEL", None)]),
            code("C3", vec![row("job 17", "<b>MON/2</b>", Some(1))]),
            code("U1", (0..201).map(|number| row(&format!("user u{number}"), "", None)).collect()),
        ],
    }
}

async fn import(console: &Console) {
    let new = [1, 2].map(|source_id| NewOrigin { source_id, digest: String::new() });
    console.store.imports().reserve_job_ids("xxl_job", &new).await.unwrap();
    for enabled in [true, false] {
        console
            .job(|job| {
                job.enabled = enabled;
                job.tags = vec![RAN.to_owned()];
            })
            .await;
    }
    let report = serde_json::to_string(&record()).unwrap();
    let stored = StoredReport { source: "xxl_job".to_owned(), imported_at: 1, report: "{}".to_owned() };
    console.store.imports().keep_report(&stored).await.unwrap();
    console.store.imports().keep_report(&StoredReport { report, ..stored }).await.unwrap();
}

#[test]
fn the_last_report_and_what_waits_are_shown_to_administrators() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let empty = admin.get("/imports").await.body;
        assert!(
            empty.contains("Nothing has been imported yet") && empty.contains("carillon import crontab"),
            "{empty}"
        );
        import(&console).await;
        let page = admin.get("/imports").await.body;
        for text in [
            "From xxl_job",
            "2 of 3 running cron jobs",
            "2 made, 0 changed",
            "the cron expression is rewritten",
            "the block strategy is unknown: <code>serial</code>, as xxl-job read it",
            "&#60;b&#62;MON/2",
            r#"<a href="/jobs/1" translate="no">job 17</a>"#,
            "and 1 more",
            "Import again, or from elsewhere",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
    });
}
