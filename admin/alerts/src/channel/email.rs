//! E-mail: the text that a mail server is handed. lettre is named here, in `smtp` and `authority`, and for the syntax of an address.

use carillon_engine::outgoing::Connector;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message as Mail};

use crate::channel::attempt::Attempt;
use crate::channel::settings::Channel;
use crate::channel::smtp;
use crate::message::Message;

pub async fn send(connector: &Connector, channel: &Channel, event_id: &str, message: &Message, tries: i32) -> Attempt {
    let mail = match mail(channel, event_id, message) {
        Ok(mail) => mail,
        Err(why) => return Attempt::again(why),
    };
    smtp::submit(connector, channel, &mail, tries).await
}

fn mail(channel: &Channel, event_id: &str, message: &Message) -> Result<Mail, String> {
    let Channel { settings, locale, .. } = channel;
    let mailbox =
        |address: &str| address.parse().map(|address| Mailbox::new(None, address)).map_err(|_| "an address is wrong");
    let from = mailbox(&settings.from)?;
    let domain = from.email.domain().to_owned();
    let mut mail = Mail::builder()
        // The same for each try: a mail that comes twice is known by it.
        .message_id(Some(format!("<{event_id}@{domain}>")))
        .from(from)
        .subject(message.title(locale))
        // So that a note of absence does not answer it.
        .raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned()));
    for to in &settings.to {
        mail = mail.to(mailbox(to)?);
    }
    let text = message.lines(locale).join("\r\n");
    mail.header(ContentType::TEXT_PLAIN).body(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::kind::ChannelKind;
    use crate::channel::settings::Settings;
    use crate::message::MessageKind;
    use crate::samples::{chat, sample};

    fn channel(to: &[&str]) -> Channel {
        let to = to.iter().map(|to| (*to).to_owned()).collect();
        let settings = Settings { from: "carillon@example.org".to_owned(), to, ..Settings::default() };
        Channel { kind: ChannelKind::Email, settings, ..chat("", None) }
    }

    // covers: S33
    #[test]
    fn no_text_adds_a_header() {
        let channel = channel(&["a@example.org", "b@example.org"]);
        let mut message = sample(MessageKind::Opened);
        message.rule = "failures\r\nBcc: evil@example.org".to_owned();
        message.app = Some("b\nX-Evil: 1".to_owned());
        let mail = String::from_utf8(mail(&channel, "c-9", &message).unwrap().formatted()).unwrap();
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

    #[test]
    fn names_in_any_language_arrive() {
        let channel = channel(&["a@example.org"]);
        let mut message = sample(MessageKind::Opened);
        message.rule = "任务失败".to_owned();
        let mail = String::from_utf8(mail(&channel, "c-9", &message).unwrap().formatted()).unwrap();
        assert!(mail.is_ascii(), "no server has to support more: {mail}");
        assert!(mail.contains("Subject: billing") && mail.contains("=?utf-8?b?"), "{mail}");
        assert!(mail.contains("Content-Type: text/plain; charset=utf-8"), "{mail}");
    }
}
