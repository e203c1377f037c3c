//! The body of a webhook, written by an administrator: JSON with placeholders such as `{{title}}`.

use serde_json::Value;

use crate::message::{Locale, Message, MessageKind};

/// The names and what stands for them.
fn values(event_id: &str, message: &Message, locale: &Locale) -> [(&'static str, String); 11] {
    [
        ("event_id", event_id.to_owned()),
        ("kind", message.kind.as_str().to_owned()),
        ("title", message.title(locale)),
        ("text", message.lines(locale).join("\n")),
        ("rule", message.rule.clone()),
        ("app", message.app.clone().unwrap_or_default()),
        ("alert_url", message.alert_url.clone().unwrap_or_default()),
        ("run_url", message.run_url().unwrap_or_default().to_owned()),
        ("alert_id", message.alert_id.map_or_else(String::new, |id| id.to_string())),
        ("events", message.events.to_string()),
        ("open_items", message.open_items.to_string()),
    ]
}

/// Values are escaped for a JSON text, so none can end it.
pub fn fill(template: &str, event_id: &str, message: &Message, locale: &Locale) -> String {
    let values = values(event_id, message, locale);
    let mut pieces = template.split("{{");
    let mut body = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        let value = values.iter().find(|(known, _)| *known == name.trim());
        let quoted = Value::from(value.map_or("", |(_, value)| value)).to_string();
        body.push_str(&quoted[1..quoted.len() - 1]);
        body.push_str(rest);
    }
    body
}

/// # Errors
/// It names something else, or is no JSON.
pub fn check(template: &str) -> Result<(), String> {
    if template.trim().is_empty() {
        return Ok(());
    }
    if template.len() > 16 * 1024 {
        return Err("is longer than 16 KiB".to_owned());
    }
    let message = Message::test("x", 0);
    let known = values("1", &message, &Locale::default()).map(|(name, _)| name);
    let names = template.split("{{").skip(1).map(|piece| piece.split_once("}}").map_or("", |(name, _)| name.trim()));
    if let Some(wrong) = names.clone().find(|name| !known.contains(name)) {
        return Err(format!("there is no placeholder `{{{{{wrong:.32}}}}}`; allowed: {}", known.join(", ")));
    }
    let filled = fill(template, "1", &Message { kind: MessageKind::Test, ..message }, &Locale::default());
    match serde_json::from_str::<Value>(&filled) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(format!("with its placeholders filled in it is no JSON: {error}; write them inside of quotes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::sample;

    // covers: S28
    #[test]
    fn values_cannot_leave_their_text() {
        let mut message = sample(MessageKind::Opened);
        message.rule = "a\", \"admin\": true, \"b\\".to_owned();
        let template = r#"{"msg": "{{title}}", "rule": "{{ rule }}", "n": {{events}}, "text": "{{text}}"}"#;
        check(template).unwrap();
        let body: Value = serde_json::from_str(&fill(template, "c-1", &message, &Locale::default())).unwrap();
        assert_eq!(body["rule"], message.rule);
        assert_eq!(body["n"], 500);
        assert_eq!(body.as_object().unwrap().len(), 4);
        assert!(body["text"].as_str().unwrap().contains("close \"day\" 1 (job 1)"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(check("").is_ok());
        assert!(
            check(r#"{"a": "{{secret}}"}"#).unwrap_err().contains("no placeholder `{{secret}}`; allowed: event_id")
        );
        assert!(check(r#"{"a": {{title}}}"#).unwrap_err().contains("inside of quotes"));
    }
}
