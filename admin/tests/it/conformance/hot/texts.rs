//! What executors write comes from anywhere, and arrives as it was written, or cut and marked as cut.

use carillon_scheduler::Outcome;
use carillon_scheduler::RunState::{Failed, Running, Succeeded};
use carillon_store::run::settle::finding::RunReport;

use crate::conformance::fixture::Fixture;
use crate::conformance::hot::outcome::settle::{failure, report, success};

const LIMIT: usize = 64 * 1024;

databases! {
    // covers: 001-33
    async fn texts_of_all_kinds_are_kept(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let long = "é".repeat(LIMIT);
        let kept = format!("{}… [cut at {LIMIT} bytes]", &long[..LIMIT]);
        let cases = [
            (Some("done"), Some("done")),
            (Some("𝄞 \u{1F600} ни́ 漢字"), Some("𝄞 \u{1F600} ни́ 漢字")),
            (Some("quote ' \" \\ \\u0041 \\' ? $1 {}\r\n\t\u{1}\u{7f}"), Some("quote ' \" \\ \\u0041 \\' ? $1 {}\r\n\t\u{1}\u{7f}")),
            (Some("a\0b"), Some("a\u{2400}b")),
            (Some("null"), Some("null")),
            (Some(""), None),
            (None, None),
            (Some(long.as_str()), Some(kept.as_str())),
        ];
        // By the statement for successes, and by the other one.
        for (outcome, state) in [(Outcome::Succeeded, Succeeded), (Outcome::Failed, Failed)] {
            fixture.sql("DELETE FROM run").await;
            let ids = fixture.runs_in(&job, &[Running; 8]).await;
            let findings: Vec<RunReport> = ids.iter().zip(cases)
                .map(|(id, (text, _))| RunReport { message: text.map(Into::into), ..report(*id, outcome) })
                .collect();
            fixture.settle(&findings).await;
            for (id, (_, kept)) in ids.iter().zip(cases) {
                let row = fixture.row(*id).await;
                assert_eq!((row.state(), row.result_msg.as_deref()), (state, kept));
            }
        }
    }

    async fn codes_of_all_kinds_are_kept(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let codes = [Some(0), Some(200), Some(-1), Some(i32::MAX), Some(i32::MIN + 1), None];
        let ids = fixture.runs_in(&job, &[Running; 6]).await;
        let findings: Vec<RunReport> = ids.iter().zip(codes).map(|(id, code)| RunReport { code, ..failure(*id) }).collect();
        fixture.settle(&findings).await;
        for (id, code) in ids.iter().zip(codes) {
            assert_eq!(fixture.row(*id).await.result_code, code);
        }
    }

    async fn many_long_texts_at_once_do_not_exceed_a_packet(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.ticking("tick").await;
        let text = "x".repeat(LIMIT);
        for finding in [success(0), failure(0)] {
            fixture.sql("DELETE FROM run").await;
            let ids = fixture.runs_in(&job, &[Running; 300]).await;
            let findings: Vec<RunReport> = ids.iter()
                .map(|id| RunReport { run_id: *id, message: Some(text.clone()), ..finding.clone() })
                .collect();
            assert_eq!(fixture.settle(&findings).await.changed.len(), 300);
            assert_eq!(fixture.count("run", &format!("LENGTH(result_msg) = {LIMIT}")).await, 300);
        }
    }
}
