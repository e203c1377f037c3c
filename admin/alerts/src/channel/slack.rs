//! Slack: an incoming webhook.

use serde_json::json;

use crate::channel::attempt::Call;
use crate::channel::settings::Channel;
use crate::message::Message;

pub fn call(channel: &Channel, message: &Message) -> Call {
    let url = channel.secrets.url.as_deref().unwrap_or_default();
    let text = format!("*{}*\n{}", escape(&message.title()), escape(&message.lines().join("\n")));
    Call::json(url, &json!({"text": text}))
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
    fn nobody_is_mentioned_by_a_text_of_an_executor() {
        let mut message = sample(MessageKind::Opened);
        message.items[0].text = "<!channel> & <https://evil.example|here>".to_owned();
        let channel = crate::samples::chat("https://hooks.example/x", None);
        let body = call(&channel, &message).body;
        assert!(body.contains("&lt;!channel&gt; &amp; ") && !body.contains('<'), "{body}");
    }
}
