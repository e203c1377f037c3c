//! Any receiver of JSON: a fixed body, or one of a template, signed if there is a secret.

use carillon_scheduler::Millis;
use serde_json::json;

use crate::channel::attempt::Call;
use crate::channel::settings::Channel;
use crate::channel::signature::hmac_hex;
use crate::channel::template;
use crate::message::Message;

/// `t=SECONDS,v1=HEX`: the HMAC-SHA256 of `SECONDS.BODY`. The time keeps an old request from being sent again by others.
pub const SIGNATURE: &str = "Carillon-Signature";
/// The same for each try.
pub const EVENT_ID: &str = "Carillon-Event-Id";

pub fn call(channel: &Channel, event_id: &str, message: &Message, now: Millis) -> Call {
    let template = channel.settings.template.trim();
    let body = match template.is_empty() {
        true => body(channel, event_id, message),
        false => template::fill(template, event_id, message, &channel.locale),
    };
    let mut headers = vec![(EVENT_ID, event_id.to_owned())];
    if let Some(secret) = &channel.secrets.secret {
        let seconds = now / 1000;
        headers.push((SIGNATURE, format!("t={seconds},v1={}", hmac_hex(secret, &format!("{seconds}.{body}")))));
    }
    Call { url: channel.settings.url.clone(), headers, body }
}

fn body(channel: &Channel, event_id: &str, message: &Message) -> String {
    let body = json!({
        "event_id": event_id,
        "title": message.title(&channel.locale),
        "text": message.lines(&channel.locale).join("\n"),
        "message": message,
    });
    body.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::kind::ChannelKind;
    use crate::channel::settings::{Secrets, Settings};
    use crate::message::{Locale, MessageKind};
    use crate::samples::sample;

    #[test]
    fn a_request_has_its_id_and_a_signature_of_time_and_body() {
        let settings = Settings { url: "https://a.example/x".to_owned(), ..Settings::default() };
        let secrets = Secrets { secret: Some("geheim".to_owned()), ..Secrets::default() };
        let channel = Channel { kind: ChannelKind::Webhook, settings, secrets, locale: Locale::default() };
        let call = call(&channel, "c-5", &sample(MessageKind::Opened), 1_760_000_000_400);
        let expected = hmac_hex("geheim", &format!("1760000000.{}", call.body));
        assert_eq!(call.headers, [(EVENT_ID, "c-5".to_owned()), (SIGNATURE, format!("t=1760000000,v1={expected}"))]);
        let body: serde_json::Value = serde_json::from_str(&call.body).unwrap();
        assert_eq!((&body["event_id"], &body["message"]["events"]), (&json!("c-5"), &json!(500)));
        assert_eq!(body["message"]["kind"], "opened");
    }
}
