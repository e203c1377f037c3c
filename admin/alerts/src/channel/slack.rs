//! Slack: an incoming webhook.

use carillon_store::db::sql::text::cut;
use serde_json::json;

use crate::channel::attempt::Call;
use crate::channel::settings::Channel;
use crate::message::Message;

/// Slack refuses longer texts of a block.
const MOST_TITLE: usize = 140;
const MOST_TEXT: usize = 2_900;

pub fn call(channel: &Channel, message: &Message) -> Call {
    let url = channel.secrets.url.as_deref().unwrap_or_default();
    // Plain text has neither markup nor mentions.
    let plain = |text: &str| json!({"type": "plain_text", "text": text, "emoji": false});
    let mut blocks = vec![
        json!({"type": "header", "text": plain(&cut(&message.title(&channel.locale), MOST_TITLE))}),
        json!({"type": "section", "text": plain(&cut(&message.lines(&channel.locale).join("\n"), MOST_TEXT))}),
    ];
    // Links need markup; both the address and the name are our own.
    let links = message.links(&channel.locale);
    let links: Vec<String> = links.iter().map(|(name, url)| format!("<{}|{}>", escape(url), escape(name))).collect();
    if !links.is_empty() {
        blocks.push(json!({"type": "section", "text": {"type": "mrkdwn", "text": links.join("  ")}}));
    }
    // For notifications, where no block is shown.
    Call::json(url, &json!({"text": escape(&message.title(&channel.locale)), "blocks": blocks}))
}

/// The three characters that begin links and mentions.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::MessageKind;
    use crate::samples::sample;

    // covers: S28
    #[test]
    fn a_text_of_an_executor_mentions_no_one() {
        let mut message = sample(MessageKind::Opened);
        message.items[0].text = "<!channel> & <https://evil.example|here>".to_owned();
        let channel = crate::samples::chat("https://hooks.example/x", None);
        message.rule = "<!here> *x*".to_owned();
        let body: serde_json::Value = serde_json::from_str(&call(&channel, &message).body).unwrap();
        assert!(body["text"].as_str().unwrap().ends_with("(&lt;!here&gt; *x*)"), "{body}");
        for block in body["blocks"].as_array().unwrap() {
            assert_eq!((&block["text"]["type"], &block["text"]["emoji"]), (&json!("plain_text"), &json!(false)));
        }
        assert!(body["blocks"][1]["text"]["text"].as_str().unwrap().contains("<!channel> & "), "{body}");
        message.alert_url = Some("https://c.example/alerts/7".to_owned());
        let body: serde_json::Value = serde_json::from_str(&call(&channel, &message).body).unwrap();
        let links = &body["blocks"][2]["text"];
        assert_eq!(links, &json!({"type": "mrkdwn", "text": "<https://c.example/alerts/7|Open the alert>"}));
    }
}
