//! E-mail, taken and refused by a real mail server.

use carillon_alerts::channel::ChannelKind;
use carillon_store::alert::deliveries::{Delivery, DeliveryState};
use carillon_testkit::{Authority, wait_for};
use serde_json::{Value, json};

use super::delivery::with_alert;
use super::mail_server::MailServer;
use super::world::World;
use crate::services::{Kind, TestDatabase, on};

/// An alert that goes to these recipients by this server.
struct Mailing {
    world: World,
    server: MailServer,
}

impl Mailing {
    async fn start(
        db: &TestDatabase,
        mode: &str,
        to: &[&str],
        change: impl FnOnce(&MailServer, &mut Value, &mut Value),
    ) -> Self {
        let (world, server) = (World::start(db, 1).await, MailServer::start(mode).await);
        let to: Vec<String> = to.iter().map(|name| format!("{name}@example.org")).collect();
        let mut settings =
            json!({"host": "127.0.0.1", "port": server.port, "tls": mode, "from": "carillon@example.org", "to": to});
        let mut secrets = json!({});
        if mode != "none" {
            (settings["ca"], settings["user"]) = (server.authority.pem().into(), server.user.into());
            secrets["password"] = server.password.clone().into();
        }
        change(&server, &mut settings, &mut secrets);
        let channel = world.channel_with(ChannelKind::Email, settings, secrets).await;
        with_alert(&world, channel).await;
        Self { world, server }
    }

    async fn usual(db: &TestDatabase, mode: &str, to: &[&str]) -> Self {
        Self::start(db, mode, to, |_, _, _| {}).await
    }

    /// Tries once; the answer.
    async fn attempt(&self) -> (DeliveryState, String) {
        assert_eq!(self.world.alerts.deliverer.round().await.unwrap(), 1);
        self.recorded().await
    }

    async fn recorded(&self) -> (DeliveryState, String) {
        let delivery: Delivery = self.world.deliveries().await.remove(0);
        (delivery.state(), delivery.answer.unwrap())
    }

    /// The mail that the server has taken.
    async fn mail(&self) -> Value {
        wait_for("a mail", async || !self.server.mails().is_empty()).await;
        assert_eq!(self.server.mails().len(), 1);
        self.server.mails().remove(0)
    }
}

#[test]
fn a_mail_goes_encrypted_and_signed_in_to_all_recipients() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        for mode in ["starttls", "tls"] {
            let folder = TestDatabase::new(db.kind()).await;
            let mailing = Mailing::usual(&folder, mode, &["ada", "bob"]).await;
            let (state, answer) = mailing.attempt().await;
            assert_eq!((state, answer.contains("queued")), (DeliveryState::Sent, true), "{mode}: {answer}");
            let mail = mailing.mail().await;
            assert_eq!((&mail["secure"], &mail["user"]), (&json!(true), &json!("carillon")), "{mode}");
            assert_eq!(mail["to"], json!(["ada@example.org", "bob@example.org"]));
            let text = mail["text"].as_str().unwrap();
            for part in ["Subject: billing: job job 0 failed (failures)\r\n", "Auto-Submitted: auto-generated", "boom"]
            {
                assert!(text.contains(part), "{part} is not in {text}");
            }
        }
    });
}

// covers: S33
#[test]
fn a_mail_without_tls_is_sent_where_that_is_chosen() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let mailing = Mailing::usual(db, "none", &["ada"]).await;
        assert_eq!(mailing.attempt().await.0, DeliveryState::Sent);
        assert_eq!(mailing.mail().await["secure"], false);
    });
}

// covers: S34
#[test]
fn a_wrong_password_is_refused_and_not_shown() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let wrong =
            |_: &MailServer, _: &mut Value, secrets: &mut Value| secrets["password"] = "not-the-password".into();
        let mailing = Mailing::start(db, "starttls", &["ada"], wrong).await;
        let (state, answer) = mailing.attempt().await;
        assert_eq!(state, DeliveryState::Pending);
        assert!(answer.contains("535") && !answer.contains("not-the-password"), "{answer}");
    });
}

#[test]
fn a_certificate_of_another_authority_gets_no_mail() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        for ca in [String::new(), Authority::new().pem().to_owned()] {
            for mode in ["starttls", "tls"] {
                let change = |_: &MailServer, settings: &mut Value, _: &mut Value| settings["ca"] = ca.clone().into();
                let folder = TestDatabase::new(db.kind()).await;
                let mailing = Mailing::start(&folder, mode, &["ada"], change).await;
                let (state, answer) = mailing.attempt().await;
                assert_eq!(state, DeliveryState::Pending);
                assert!(answer.contains("certificate"), "{mode}: {answer}");
            }
        }
    });
}

#[test]
fn a_refused_recipient_keeps_no_other_from_the_mail() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let mailing = Mailing::usual(db, "none", &["refused", "ada"]).await;
        let (state, answer) = mailing.attempt().await;
        assert_eq!(state, DeliveryState::Sent);
        assert!(answer.contains("not for refused@example.org") && answer.contains("no such user"), "{answer}");
        assert_eq!(mailing.mail().await["to"], json!(["ada@example.org"]));
    });
}

#[test]
fn a_mail_that_no_recipient_takes_is_tried_again() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let mailing = Mailing::usual(db, "none", &["refused"]).await;
        let (state, answer) = mailing.attempt().await;
        assert_eq!(state, DeliveryState::Pending);
        assert!(answer.contains("550"), "{answer}");
    });
}

#[test]
fn greylisting_delays_a_mail_and_a_full_mailbox_does_so_for_some_minutes_only() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let mailing = Mailing::usual(db, "none", &["grey", "ada"]).await;
        let (state, answer) = mailing.attempt().await;
        assert_eq!((state, answer.contains("451")), (DeliveryState::Pending, true), "{answer}");
        mailing.world.later(10);
        assert_eq!(mailing.attempt().await.0, DeliveryState::Sent);
        assert_eq!(mailing.mail().await["to"], json!(["grey@example.org", "ada@example.org"]));

        let folder = TestDatabase::new(db.kind()).await;
        let mailing = Mailing::usual(&folder, "none", &["full", "ada"]).await;
        for _ in 0..6 {
            assert_eq!(mailing.attempt().await.0, DeliveryState::Pending);
            mailing.world.later(700);
        }
        let (state, answer) = mailing.attempt().await;
        assert_eq!(state, DeliveryState::Sent);
        assert!(answer.contains("not for full@example.org"), "{answer}");
        assert_eq!(mailing.mail().await["to"], json!(["ada@example.org"]));
    });
}

#[test]
fn a_server_that_does_not_answer_or_breaks_off_gets_the_mail_again() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let mailing = Mailing::usual(db, "none", &["slow"]).await;
        assert_eq!(mailing.world.impatient_deliverer().await.round().await.unwrap(), 1);
        let (state, answer) = mailing.recorded().await;
        assert_eq!((state, answer.as_str()), (DeliveryState::Pending, "no answer within 0.5 s"));

        let folder = TestDatabase::new(db.kind()).await;
        let mailing = Mailing::usual(&folder, "none", &["cut"]).await;
        let (state, answer) = mailing.attempt().await;
        assert_eq!(state, DeliveryState::Pending, "{answer}");
        assert!(!answer.is_empty());
    });
}

// covers: S20
#[test]
fn no_mail_goes_to_an_address_that_is_denied() {
    on(Kind::Sqlite, async |db: &TestDatabase| {
        let change = |_: &MailServer, settings: &mut Value, _: &mut Value| settings["host"] = "169.254.169.254".into();
        let mailing = Mailing::start(db, "none", &["ada"], change).await;
        let (state, answer) = mailing.attempt().await;
        assert_eq!(state, DeliveryState::Pending);
        assert!(answer.starts_with("169.254.169.254 is an address"), "{answer}");
    });
}
