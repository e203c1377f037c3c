//! E-mail over SMTP. Names lettre; nothing else of this crate does but for the syntax of an address.

use std::time::Duration;

use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message as Mail};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls as Protection, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};

use crate::channel::attempt::Attempt;
use crate::channel::settings::{Channel, Settings, Tls};
use crate::message::Message;

const TIME_LIMIT: Duration = Duration::from_secs(10);

pub async fn send(channel: &Channel, event_id: &str, message: &Message) -> Attempt {
    let sent = async {
        let mail = mail(&channel.settings, event_id, message)?;
        let transport = transport(channel)?;
        transport.send(mail).await.map_err(|error| describe(&error))
    };
    match sent.await {
        Ok(response) => {
            let said: Vec<&str> = response.message().collect();
            Attempt::Delivered { answer: format!("{} {}", response.code(), said.join(" ")) }
        }
        Err(why) => Attempt::again(why),
    }
}

fn mail(settings: &Settings, event_id: &str, message: &Message) -> Result<Mail, String> {
    let mailbox =
        |address: &str| address.parse().map(|address| Mailbox::new(None, address)).map_err(|_| "an address is wrong");
    let from = mailbox(&settings.from)?;
    let domain = from.email.domain().to_owned();
    let mut mail = Mail::builder()
        // The same for each try: a mail that comes twice is known by it.
        .message_id(Some(format!("<{event_id}@{domain}>")))
        .from(from)
        .subject(message.title());
    for to in &settings.to {
        mail = mail.to(mailbox(to)?);
    }
    let text = message.lines().join("\r\n");
    mail.header(ContentType::TEXT_PLAIN).body(text).map_err(|error| error.to_string())
}

fn transport(channel: &Channel) -> Result<AsyncSmtpTransport<Tokio1Executor>, String> {
    let settings = &channel.settings;
    let tls = settings.tls.unwrap_or_default();
    let parameters = || TlsParameters::new(settings.host.clone()).map_err(|error| describe(&error));
    let (protection, port) = match tls {
        Tls::Starttls => (Protection::Required(parameters()?), 587),
        Tls::Tls => (Protection::Wrapper(parameters()?), 465),
        Tls::None => (Protection::None, 25),
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host)
        .port(settings.port.unwrap_or(port))
        .tls(protection)
        .timeout(Some(TIME_LIMIT));
    if let Some(password) = &channel.secrets.password {
        builder = builder.credentials(Credentials::new(settings.user.clone(), password.clone()));
    }
    Ok(builder.build())
}

fn describe(error: &lettre::transport::smtp::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::MessageKind;
    use crate::samples::sample;

    // covers: S33
    #[test]
    fn no_text_adds_a_header() {
        let settings = Settings {
            from: "carillon@example.org".to_owned(),
            to: vec!["a@example.org".to_owned(), "b@example.org".to_owned()],
            ..Settings::default()
        };
        let mut message = sample(MessageKind::Opened);
        message.rule = "failures\r\nBcc: evil@example.org".to_owned();
        message.app = Some("b\nX-Evil: 1".to_owned());
        let mail = String::from_utf8(mail(&settings, "c-9", &message).unwrap().formatted()).unwrap();
        let (head, _) = mail.split_once("\r\n\r\n").unwrap();
        let names: Vec<&str> = head
            .lines()
            .filter(|line| !line.starts_with(' '))
            .filter_map(|line| Some(line.split_once(':')?.0))
            .collect();
        assert!(!names.iter().any(|name| matches!(*name, "Bcc" | "X-Evil")), "{head}");
        assert!(
            head.contains("Message-ID: <c-9@example.org>") && head.contains("a@example.org, b@example.org"),
            "{head}"
        );
    }
}
