//! An executor that no admin accepts logs the reason.

use std::io;
use std::sync::{Arc, Mutex};

use carillon_executor::{Executor, JobContext};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::worker::new_token;
use carillon_testkit::{Reply, StubAdmin};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn lines(&self, with: &str) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let found = text.lines().filter(|line| line.contains(with));
        found.map(str::to_owned).collect()
    }
}

// covers: A4
// One thread, because the subscriber of this test is set for its thread only.
#[tokio::test]
async fn a_wrong_token_is_one_warning_that_names_the_setting_to_check() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    admin.reply(Reply::refused("The access token is wrong."));
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
    let _log = tracing::subscriber::set_default(subscriber.with_ansi(false).finish());
    let executor = Executor::builder()
        .admin(&admin.address)
        .app("billing")
        .token(new_token())
        .data_dir(data.path())
        .job("ok", |_: JobContext| async { Ok(()) })
        .build()
        .unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(executor.run(async { drop(stopped.await) }));
    let tried = |times: usize| move |calls: &[carillon_testkit::Call]| calls.len() >= times;
    admin.wait_for("a third registration", tried(3)).await;
    let warnings = log.lines("WARN");
    assert_eq!(warnings.len(), 1, "once for the first minute: {warnings:#?}");
    for part in ["billing", "the access token is wrong", "CARILLON_ACCESS_TOKEN", &admin.address] {
        assert!(warnings[0].contains(part), "{part}: {}", warnings[0]);
    }
    admin.reply(Reply::Accept);
    let is_logged = || !log.lines("registered").is_empty();
    admin.wait_for("an accepted registration", tried(4)).await;
    while !is_logged() {
        tokio::task::yield_now().await;
    }
    drop(stop);
    running.await.unwrap().unwrap();
}
