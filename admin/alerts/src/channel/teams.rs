//! Microsoft Teams: an adaptive card for a workflow ("Post to a channel when a webhook request is received").

use serde_json::{Value, json};

use crate::channel::attempt::Call;
use crate::channel::settings::Channel;
use crate::message::Message;

pub fn call(channel: &Channel, message: &Message) -> Call {
    // A text run shows its text as it is; a text block would read Markdown in it.
    let block = |text: &str, weight: &str| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, "weight": weight}]});
    let lines = message.lines(&channel.locale);
    let body: Vec<Value> = std::iter::once(block(&message.title(&channel.locale), "Bolder"))
        .chain(lines.iter().map(|line| block(line, "Default")))
        .collect();
    let action = |(name, url): &(String, &str)| json!({"type": "Action.OpenUrl", "title": name, "url": url});
    let actions: Vec<Value> = message.links(&channel.locale).iter().map(action).collect();
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body,
        "actions": actions
    });
    let attachment = json!({"contentType": "application/vnd.microsoft.card.adaptive", "content": card});
    let url = channel.secrets.url.as_deref().unwrap_or_default();
    Call::json(url, &json!({"type": "message", "attachments": [attachment]}))
}
