//! DingTalk: a group robot, with a signature if the robot has one.

use carillon_scheduler::Millis;
use serde_json::json;
use url::Url;

use crate::channel::attempt::{Answer, Attempt, Call};
use crate::channel::settings::Channel;
use crate::channel::signature::hmac_base64;
use crate::message::Message;

pub fn call(channel: &Channel, message: &Message, now: Millis) -> Call {
    let url = channel.secrets.url.as_deref().unwrap_or_default();
    let url = channel.secrets.secret.as_deref().map_or_else(|| url.to_owned(), |secret| signed(url, secret, now));
    Call::json(&url, &json!({"msgtype": "text", "text": {"content": message.text(&channel.locale)}}))
}

/// The signature is a part of the query.
fn signed(url: &str, secret: &str, now: Millis) -> String {
    let Ok(mut parsed) = Url::parse(url) else {
        return url.to_owned();
    };
    let sign = hmac_base64(secret, &format!("{now}\n{secret}"));
    parsed.query_pairs_mut().append_pair("timestamp", &now.to_string()).append_pair("sign", &sign);
    parsed.into()
}

pub fn check_reply(answer: &Answer) -> Attempt {
    answer.by_code(&["errcode"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::MessageKind;
    use crate::samples::chat;
    use crate::samples::sample;

    #[test]
    fn the_robot_is_called_with_time_and_signature() {
        let channel = chat("https://oapi.example/robot/send?access_token=x", Some("SECx"));
        let call = call(&channel, &sample(MessageKind::Opened), 1_760_000_000_400);
        let url = Url::parse(&call.url).unwrap();
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        assert_eq!(pairs[1], ("timestamp".to_owned(), "1760000000400".to_owned()));
        assert_eq!(pairs[2], ("sign".to_owned(), hmac_base64("SECx", "1760000000400\nSECx")));
        assert!(call.body.contains("billing: 12 jobs"), "{}", call.body);
    }
}
