//! The logs of runs, read while they grow.

use std::fs;

use carillon_protocol::{LogPage, LogRequest};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worker::{Answer, DUE_AT, Worker, run};
use carillon_testkit::StubAdmin;

async fn read(worker: &Worker, log_id: i64, from_line: i64) -> Answer {
    let request = LogRequest { log_date_time: DUE_AT, log_id, from_line };
    worker.post("/log", &serde_json::to_value(request).unwrap(), &[]).await
}

fn page(answer: &Answer) -> LogPage {
    assert_eq!(answer.body["content"], answer.body["data"]);
    serde_json::from_value(answer.body["content"].clone()).unwrap()
}

// covers: H23, S31
#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_read_page_by_page_in_whole_lines() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let mut request = run(5, "lines");
    request.params = "20000".into();
    worker.run(&request).await;
    admin.result(5).await;

    let (mut next, mut text) = (1, String::new());
    loop {
        let part = page(&read(&worker, 5, next).await);
        assert!(part.content.len() <= 256 << 10 && part.content.ends_with('\n'));
        assert_eq!((part.from_line, part.to_line >= next), (next, true));
        text += &part.content;
        next = part.to_line + 1;
        if part.is_end {
            break;
        }
    }
    assert!(next > 3, "several pages");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 20_000);
    let (stamp, rest) = lines[19_999].split_at(19);
    assert_eq!(rest, " [lines] line 20000");
    assert!(stamp.bytes().zip(b"0000-00-00 00:00:00").all(|(a, b)| a == *b || a.is_ascii_digit()));

    let after = page(&read(&worker, 5, 20_001).await);
    assert_eq!((after.to_line, after.content.as_str(), after.is_end), (20_000, "", true));
    let file = data.path().join("logs/2026-09-21/5.log");
    assert_eq!(fs::read_to_string(file).unwrap(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_the_end_only_after_the_run_has_ended() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    worker.run(&run(1, "gate")).await;
    worker.started(1).await;
    let silent = page(&read(&worker, 1, 1).await);
    assert_eq!((silent.to_line, silent.is_end), (0, false));
    worker.handlers.gate.add_permits(1);
    admin.result(1).await;
    assert!(page(&read(&worker, 1, 1).await).is_end);
    assert!(!data.path().join("logs/2026-09-21").exists(), "no file without a line");

    let foreign = read(&worker, 2, 1).await;
    assert_eq!((foreign.code(), foreign.msg()), (500, "this executor has no log of run 2"));
}

// covers: S31
#[tokio::test(flavor = "multi_thread")]
async fn no_request_reads_or_writes_outside_the_folder_of_logs() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let outside = TempDir::new().unwrap();
    let secret = outside.path().join("1.log");
    fs::write(&secret, "secret\n").unwrap();
    let day = data.path().join("logs/2026-09-21");
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path(), &day).unwrap();
    for (at, id) in [
        (json!(DUE_AT), json!(1)),
        (json!(DUE_AT), json!("../1")),
        (json!(DUE_AT), json!("/etc/passwd")),
        (json!(DUE_AT), json!("1\u{0}")),
        (json!(DUE_AT), json!(-1)),
        (json!(i64::MAX), json!(1)),
        (json!(i64::MIN), json!(1)),
        (json!("2026/../.."), json!(1)),
    ] {
        let body = json!({"logDateTim": at, "logId": id, "fromLineNum": -5});
        let answer = worker.post("/log", &body, &[]).await;
        assert_eq!((answer.code(), &answer.body["content"]), (500, &Value::Null), "{body}");
    }
    let mut request = run(1, "lines");
    request.params = "1".into();
    worker.run(&request).await;
    admin.result(1).await;
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret\n", "a run's log does not write there");
}

// covers: H23, S32
#[tokio::test(flavor = "multi_thread")]
async fn a_log_at_its_limit_ends_with_a_mark() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let mut request = run(9, "lines");
    request.params = "600000".into();
    worker.run(&request).await;
    admin.result(9).await;
    let text = fs::read_to_string(data.path().join("logs/2026-09-21/9.log")).unwrap();
    assert!(text.len() <= (16 << 20) + 100, "{}", text.len());
    assert!(text.ends_with("\ntruncated: the log of a run ends at 16 MiB\n"));
}
