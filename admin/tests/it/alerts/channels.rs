//! Each kind of channel that is called by HTTP, against a receiver that takes, refuses, slows down, breaks off and keeps silent.

use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_alerts::channel::ChannelKind;
use carillon_store::alert::deliveries::DeliveryState;
use serde_json::{Value, json};

use super::delivery::with_alert;
use super::receiver::{Receiver, Reply};
use super::world::World;
use crate::console::client::Console;
use crate::services::{Kind, TestDatabase, on, runtime};

struct Case {
    kind: ChannelKind,
    /// The body with which the service takes a message.
    good: &'static str,
    /// How it refuses one.
    refusal: Reply,
    settings: fn(&str) -> Value,
    secrets: fn(&str) -> Value,
    /// Where the body says what has failed.
    text: &'static str,
}

const SECRET: &str = "s3cr3t-of-the-channel";

fn no_settings(_: &str) -> Value {
    json!({})
}

fn secret_url(url: &str) -> Value {
    json!({"url": format!("{url}/{SECRET}")})
}

fn signed_url(url: &str) -> Value {
    json!({"url": format!("{url}?access_token={SECRET}"), "secret": "SEC-geheim"})
}

const CASES: [Case; 7] = [
    Case {
        kind: ChannelKind::Webhook,
        good: "",
        refusal: Reply::Echo(403),
        settings: |url| json!({"url": url}),
        secrets: |_| json!({"secret": SECRET}),
        text: "/text",
    },
    Case {
        kind: ChannelKind::Slack,
        good: "ok",
        refusal: Reply::Echo(403),
        settings: no_settings,
        secrets: secret_url,
        text: "/blocks/1/text/text",
    },
    Case {
        kind: ChannelKind::Teams,
        good: "",
        refusal: Reply::Echo(404),
        settings: no_settings,
        secrets: secret_url,
        text: "/attachments/0/content/body/1/inlines/0/text",
    },
    Case {
        kind: ChannelKind::Dingtalk,
        good: r#"{"errcode":0,"errmsg":"ok"}"#,
        refusal: Reply::Status(200, r#"{"errcode":310000,"errmsg":"sign not match"}"#),
        settings: no_settings,
        secrets: signed_url,
        text: "/text/content",
    },
    Case {
        kind: ChannelKind::Feishu,
        good: r#"{"code":0,"msg":"success"}"#,
        refusal: Reply::Status(200, r#"{"code":19021,"msg":"sign match fail or timestamp is not within one hour"}"#),
        settings: no_settings,
        secrets: |url| json!({"url": format!("{url}/{SECRET}"), "secret": "SEC-geheim"}),
        text: "/content/text",
    },
    Case {
        kind: ChannelKind::Wecom,
        good: r#"{"errcode":0,"errmsg":"ok"}"#,
        refusal: Reply::Status(200, r#"{"errcode":93000,"errmsg":"invalid webhook url"}"#),
        settings: no_settings,
        secrets: secret_url,
        text: "/text/content",
    },
    Case {
        kind: ChannelKind::Pagerduty,
        good: r#"{"status":"success","dedup_key":"x"}"#,
        refusal: Reply::Echo(400),
        settings: |url| json!({"url": url}),
        secrets: |_| json!({"routing_key": SECRET}),
        text: "/payload/custom_details/lines/0",
    },
];

impl Case {
    async fn run(&self, db: &TestDatabase) {
        let world = World::start(db, 1).await;
        let receiver = Receiver::start(self.good).await;
        let channel =
            world.channel_with(self.kind, (self.settings)(&receiver.url), (self.secrets)(&receiver.url)).await;
        with_alert(&world, channel).await;
        for (reply, answer) in [
            (self.refusal, "HTTP "),
            (Reply::Echo(500), "HTTP 500"),
            (Reply::TooMany(90), "HTTP 429"),
            (Reply::Cut, "connection closed"),
            (Reply::CutAnswer, "error decoding response body"),
            (Reply::Silence, "no answer within 0.5 s"),
        ] {
            receiver.reply(reply);
            let is_silent = matches!(reply, Reply::Silence);
            let tried = match is_silent {
                true => world.impatient_deliverer().await.round().await,
                false => world.alerts.deliverer.round().await,
            };
            assert_eq!(tried.unwrap(), 1);
            self.assert_recorded(&world, DeliveryState::Pending, answer).await;
            world.later(600);
        }
        assert_eq!(world.alerts.deliverer.round().await.unwrap(), 1);
        self.assert_recorded(&world, DeliveryState::Sent, "HTTP 200").await;
        let received = receiver.received();
        assert_eq!(received.len(), 7);
        let text = received[6].body.pointer(self.text).and_then(Value::as_str);
        let text = text.unwrap_or_else(|| panic!("{}: {}", self.kind, received[6].body));
        assert!(text.contains("job 0 (job ") && text.contains("boom"), "{}: {text}", self.kind);
    }

    async fn assert_recorded(&self, world: &World, state: DeliveryState, answer: &str) {
        let delivery = world.deliveries().await.remove(0);
        let said = delivery.answer.clone().unwrap();
        assert_eq!(delivery.state(), state, "{}: {said}", self.kind);
        assert!(said.contains(answer), "{}: {said} instead of {answer}", self.kind);
        assert!(!said.contains(SECRET) && !said.contains("SEC-geheim"), "{}: {said}", self.kind);
    }
}

// covers: S34
#[test]
fn each_kind_of_channel_is_tried_until_it_takes_the_message() {
    for case in CASES {
        on(Kind::Sqlite, async |db: &TestDatabase| case.run(db).await);
    }
}

// covers: S34
#[test]
fn a_mail_server_without_a_user_gets_no_password_either() {
    runtime().block_on(async {
        let keys = SecretKeys::parse(&random_secret()).unwrap();
        let console = Console::with(|config| config.secret_keys = keys).await;
        let admin = console.admin().await;
        let save = async |path: &str, user: &str, password: &str| {
            let fields = [
                ("kind", "email"),
                ("name", "ops"),
                ("host", "smtp.example.org"),
                ("tls", "starttls"),
                ("user", user),
                ("password", password),
                ("from", "carillon@example.org"),
                ("to", "ops@example.org"),
            ];
            let answer = admin.submit(path, &fields).await;
            assert_eq!(answer.status, 303, "{}", answer.body);
            let has_password = console.store.alerts().channels().await.unwrap()[0].sealed.is_some();
            (answer.location().to_owned(), has_password)
        };
        let (page, has_password) = save("/alerts/channels", "carillon", &random_secret()).await;
        assert!(has_password);
        assert!(save(&page, "carillon", "").await.1, "what is left empty stays");
        assert!(!save(&page, "", "").await.1, "the form has no other way to take it away");
    });
}
