//! A storm of failed runs, with e-mail and a webhook, and a node that is killed in between.

use std::collections::BTreeSet;
use std::time::Duration;

use carillon_locale::grouped;
use carillon_testkit::{AdminClient, RecordingExecutor, wait_for};
use serde_json::{Value, json};

use super::api::{Api, Run};
use super::load::APP;
use crate::alerts::mail_server::MailServer;
use crate::alerts::receiver::{Receiver, Reply};
use crate::program::settings;

const JOBS: usize = 1_000;
/// More messages than these are no handful.
const HANDFUL: usize = 8;
/// A message whose sender has died is sent again after 30 s.
const WITHIN: Duration = Duration::from_secs(90);

/// Creates a channel; answers its id.
async fn channel(api: &Api, kind: &str, settings: Value) -> Value {
    let body = json!({"name": kind, "kind": kind, "settings": settings, "all_apps": true});
    api.post("alert-channels", body).await.ok()["id"].take()
}

fn events(message: &Value) -> i64 {
    message["message"]["events"].as_i64().unwrap()
}

/// The text of a mail without the line ends of its encoding.
fn unfolded(mail: &Value) -> String {
    mail["text"].as_str().unwrap().replace("=\r\n", "").replace("\r\n ", " ")
}

databases! {
    // covers: 001-40
    async fn a_storm_is_a_handful_of_messages_of_which_a_kill_loses_none(db: &TestDatabase) {
        let mut setup = settings(db.folder());
        if let Some(url) = db.url() {
            setup = setup.arg(format!("--database-url={url}"));
        }
        let node = setup.start().await;
        let (api, receiver, mail) = (Api::new(&node), Receiver::start("ok").await, MailServer::start("none").await);
        api.create_app(APP).await;
        let hook = channel(&api, "webhook", json!({"url": receiver.url})).await;
        let to = json!(["ops@example.org"]);
        let mailing =
            json!({"host": "127.0.0.1", "port": mail.port, "tls": "none", "from": "carillon@example.org", "to": to});
        let mailing = channel(&api, "email", mailing).await;
        let kinds = json!(["failed", "unknown", "lost"]);
        let rule = json!({"name": "storm", "app": APP, "kinds": kinds, "channels": [hook, mailing], "group_seconds": 20});
        api.post("alert-rules", rule).await.ok();
        let executor = RecordingExecutor::start().await;
        executor.forget_calls();
        let admin = AdminClient::new([node.url()], &setup.access_token);
        executor.register(&admin, APP).await;
        executor.report(&admin, |_| (500, "the disk is full".to_owned()));
        // The first message arrives, and is not recorded as sent.
        receiver.reply(Reply::Silence);
        let twice_a_minute = json!({"kind": "cron", "expression": "0/30 * * * * ?", "timezone": "UTC"});
        let draft = json!({"app": APP, "name": "copy", "handler": "copy", "schedule": twice_a_minute});
        let jobs = api.create_jobs(vec![draft; JOBS]).await;
        within("the first message", async || !receiver.received().is_empty()).await;
        wait_for("the middle of the storm", async || executor.run_count() >= JOBS * 7 / 10).await;
        node.kill().await;

        let node = setup.start().await;
        within("all jobs", async || executor.receipts().iter().map(|it| it.job_id).collect::<BTreeSet<_>>().len() == JOBS)
            .await;
        api.disable(&jobs).await;
        let runs: Vec<Run> = api.runs_at_the_end(Duration::from_secs(60)).await;
        let failed = runs.iter().filter(|run| matches!(&*run.state, "failed" | "unknown" | "lost")).count() as i64;
        assert!(failed >= JOBS as i64, "{failed}");
        within("a message about all of them", async || {
            receiver.received().iter().any(|it| events(&it.body) == failed)
                && mail.mails().iter().any(|it| unfolded(it).contains(&format!("{} events", grouped(failed))))
        })
        .await;
        within("each message is sent", async || {
            api.get("alert-deliveries").await.column("state").iter().all(|state| state == "sent")
        })
        .await;
        let ids: Vec<String> = receiver.received().iter().map(|it| it.header("carillon-event-id").to_owned()).collect();
        let distinct: BTreeSet<&String> = ids.iter().collect();
        eprintln!("{failed} failed runs, {} calls of {} messages, {} mails", ids.len(), distinct.len(), mail.mails().len());
        assert!(distinct.len() <= HANDFUL && mail.mails().len() <= HANDFUL, "{ids:?}");
        let first = ids.iter().filter(|id| **id == ids[0]).count();
        assert!(first >= 2, "the one that was not recorded is sent again under its id: {ids:?}");
        assert!(receiver.received().iter().all(|it| events(&it.body) <= failed), "nothing is counted twice");
        drop(node);
    }
}

async fn within(what: &str, condition: impl AsyncFn() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(WITHIN, waiting).await.unwrap_or_else(|_| panic!("{what}: not within {WITHIN:?}"));
}
