//! WeCom (WeChat Work): a group robot.

use carillon_store::db::sql::text::cut;
use serde_json::json;

use crate::channel::attempt::{Answer, Attempt, Call};
use crate::channel::settings::Channel;
use crate::message::Message;

/// The robot takes 2,048 bytes.
const MOST: usize = 2_000;

pub fn call(channel: &Channel, message: &Message) -> Call {
    let url = channel.secrets.url.as_deref().unwrap_or_default();
    Call::json(url, &json!({"msgtype": "text", "text": {"content": cut(&message.text(&channel.locale), MOST)}}))
}

pub fn check_reply(answer: &Answer) -> Attempt {
    answer.by_code(&["errcode"])
}
