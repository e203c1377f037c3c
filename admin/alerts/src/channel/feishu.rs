//! Feishu and Lark: a custom bot, with a signature if the bot has one.

use carillon_scheduler::Millis;
use serde_json::json;

use crate::channel::attempt::{Answer, Attempt, Call};
use crate::channel::settings::Channel;
use crate::channel::signature::hmac_base64;
use crate::message::Message;

pub fn call(channel: &Channel, message: &Message, now: Millis) -> Call {
    // A tag such as `<at user_id="all">` would mention everyone.
    let text = message.text(&channel.locale).replace('<', "＜").replace('>', "＞");
    let mut body = json!({"msg_type": "text", "content": {"text": text}});
    if let Some(secret) = &channel.secrets.secret {
        let seconds = now / 1000;
        // The key is the time with the secret, and the text is empty.
        body["timestamp"] = json!(seconds.to_string());
        body["sign"] = json!(hmac_base64(&format!("{seconds}\n{secret}"), ""));
    }
    Call::json(channel.secrets.url.as_deref().unwrap_or_default(), &body)
}

pub fn check_reply(answer: &Answer) -> Attempt {
    answer.by_code(&["code", "StatusCode"])
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::message::MessageKind;
    use crate::samples::chat;
    use crate::samples::sample;

    #[test]
    fn the_body_has_time_and_signature() {
        let channel = chat("https://open.example/hook", Some("s"));
        let body: Value =
            serde_json::from_str(&call(&channel, &sample(MessageKind::Opened), 1_760_000_000_400).body).unwrap();
        assert_eq!(body["timestamp"], "1760000000");
        assert_eq!(body["sign"], hmac_base64("1760000000\ns", ""));
        assert!(!body["content"]["text"].as_str().unwrap().contains('<'));
    }
}
