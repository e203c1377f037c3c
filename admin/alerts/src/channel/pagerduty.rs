//! PagerDuty, Events API v2: all messages of an alert have one `dedup_key`, so they are one incident there.

use carillon_store::db::sql::text::cut;
use serde_json::{Value, json};

use crate::channel::attempt::Call;
use crate::channel::settings::Channel;
use crate::message::{Message, MessageKind};

const USUAL: &str = "https://events.pagerduty.com/v2/enqueue";

pub fn call(channel: &Channel, cluster: &str, event_id: &str, message: &Message) -> Call {
    let url = if channel.settings.url.is_empty() { USUAL } else { &channel.settings.url };
    let action = if message.kind == MessageKind::Resolved { "resolve" } else { "trigger" };
    let dedup_key = message.alert_id.map_or_else(|| event_id.to_owned(), |id| format!("carillon-{cluster}-alert-{id}"));
    let payload = json!({
        "summary": cut(&message.title(&channel.locale), 1_000),
        "source": message.app.as_deref().unwrap_or("carillon"),
        "severity": match message.kind {
            MessageKind::Test => "info",
            MessageKind::More => "warning",
            _ => "error",
        },
        "component": "carillon",
        "class": message.items.first().map(|item| item.kind),
        "custom_details": {"lines": message.lines(&channel.locale), "event_id": event_id, "rule": message.rule},
    });
    let routing_key = channel.secrets.routing_key.as_deref().unwrap_or_default();
    let link = |(name, url): &(String, &str)| json!({"href": url, "text": name});
    let links: Vec<Value> = message.links(&channel.locale).iter().map(link).collect();
    Call::json(
        url,
        &json!({"routing_key": routing_key, "event_action": action, "dedup_key": dedup_key, "payload": payload, "links": links}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::kind::ChannelKind;
    use crate::channel::settings::{Secrets, Settings};
    use crate::message::Locale;
    use crate::samples::sample;

    #[test]
    fn the_messages_of_an_alert_are_one_incident_that_its_end_resolves() {
        let secrets = Secrets { routing_key: Some("r".to_owned()), ..Secrets::default() };
        let channel =
            Channel { kind: ChannelKind::Pagerduty, settings: Settings::default(), secrets, locale: Locale::default() };
        let body = |kind, id: &str| -> Value {
            let call = call(&channel, "c", id, &sample(kind));
            assert_eq!(call.url, USUAL);
            serde_json::from_str(&call.body).unwrap()
        };
        let (opened, over) = (body(MessageKind::Opened, "c-1"), body(MessageKind::Resolved, "c-2"));
        assert_eq!((&opened["event_action"], &over["event_action"]), (&json!("trigger"), &json!("resolve")));
        assert_eq!(
            (&opened["dedup_key"], &over["dedup_key"]),
            (&json!("carillon-c-alert-7"), &json!("carillon-c-alert-7"))
        );
    }
}
