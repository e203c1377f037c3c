//! Loops.

use std::fmt::Debug;

use carillon_protocol::{
    LoopCounters, LoopFailure, LoopGrant, LoopHistory, LoopRef, LoopRenewals, LoopReport, LoopReports, LoopRun,
    LoopStop, LoopTiming, RenewedLoop, parse_loops,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Compares in both directions.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
fn assert_wire<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T, text: &str) {
    assert_eq!(serde_json::to_string(value).unwrap(), text);
    assert_eq!(parse_loops::<T>(text.as_bytes()).as_ref(), Ok(value));
}

#[test]
fn requests_and_answers_are_written_byte_for_byte() {
    let grant = LoopGrant { job_id: 5, epoch: 7, handler: "tick".into(), params: "é".into(), timeout_seconds: 3 };
    assert_wire(&grant, r#"{"jobId":5,"epoch":7,"handler":"tick","params":"é","timeoutSeconds":3}"#);
    assert_wire(&LoopRef { job_id: 5 }, r#"{"jobId":5}"#);
    let stop = LoopStop { job_id: 5, epoch: 8, boot_id: "boot".into() };
    assert_wire(&stop, r#"{"jobId":5,"epoch":8,"bootId":"boot"}"#);
    let renewed = |job_id, timing| RenewedLoop { job_id, epoch: 7, timing };
    let loops = vec![
        renewed(5, LoopTiming::Rate { period_ms: 50, from: 1_790_000_000_000 }),
        renewed(6, LoopTiming::Delay { delay_ms: 200 }),
        renewed(7, LoopTiming::Instants { at: vec![1_790_000_001_000] }),
    ];
    assert_wire(
        &LoopRenewals { now: 1_790_000_000_123, lease_ms: 5_000, loops },
        r#"{"now":1790000000123,"leaseMs":5000,"loops":[{"jobId":5,"epoch":7,"timing":{"kind":"rate","periodMs":50,"from":1790000000000}},{"jobId":6,"epoch":7,"timing":{"kind":"delay","delayMs":200}},{"jobId":7,"epoch":7,"timing":{"kind":"instants","at":[1790000001000]}}]}"#,
    );
    let run = LoopRun { at: 1_790_000_000_000, late_us: 750, took_us: 1_250, code: 500, text: Some("no".into()) };
    assert_wire(
        &LoopHistory { runs: vec![run], failures: vec![] },
        r#"{"runs":[{"at":1790000000000,"lateUs":750,"tookUs":1250,"code":500,"text":"no"}],"failures":[]}"#,
    );
}

#[test]
fn a_report_has_what_there_is_to_report() {
    let mut counters =
        LoopCounters { succeeded: 1, failed: 1, skipped: 2, running: 0, failed_in_row: 1, ..LoopCounters::default() };
    counters.count_start(1_000);
    counters.count_start(1_001);
    let counters_text = r#""counters":{"fired":2,"succeeded":1,"failed":1,"skipped":2,"running":0,"failedInRow":1,"lateness":[1,1,0,0,0,0,0,0,0,0,0]}"#;
    let report = LoopReport { job_id: 5, epoch: 7, counters, ..LoopReport::default() };
    let text = format!(r#"{{"loops":[{{"jobId":5,"epoch":7,{counters_text}}}]}}"#);
    assert_wire(&LoopReports { loops: vec![report.clone()] }, &text);
    let failure = LoopFailure { at: 50, text: "no".into() };
    let last = LoopReport { last_fired_at: Some(100), last_failure: Some(failure), ends: true, ..report };
    let text = format!(
        r#"{{"jobId":5,"epoch":7,{counters_text},"lastFiredAt":100,"lastFailure":{{"at":50,"text":"no"}},"ends":true}}"#
    );
    assert_wire(&last, &text);
    let short: LoopReport = parse_loops(br#"{"jobId":1,"epoch":2,"counters":{"fired":3},"later":true}"#).unwrap();
    assert_eq!(short.counters.fired, 3);
    assert!(parse_loops::<LoopReports>(b"[]").is_err());
}

#[test]
fn counters_of_grants_are_added_and_failures_in_a_row_go_on_over_their_ends() {
    let counters = |succeeded, failed, failed_in_row, lateness: &[u64]| LoopCounters {
        fired: succeeded + failed,
        succeeded,
        failed,
        failed_in_row,
        lateness: lateness.to_vec(),
        ..LoopCounters::default()
    };
    let mut sum = LoopCounters::default();
    sum.add(&counters(3, 2, 2, &[1, 4]));
    sum.add(&counters(0, 3, 3, &[0, 0, 3]));
    assert_eq!(sum, counters(3, 5, 5, &[1, 4, 3]));
    sum.add(&counters(1, 1, 1, &[2]));
    assert_eq!((sum.failed_in_row, sum.fired, &*sum.lateness), (1, 10, &[3, 4, 3][..]));
}
