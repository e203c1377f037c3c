//! The pieces that schemas and paths are made of.

use serde_json::{Map, Value, json};

pub fn schema(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// A schema, or null.
pub fn nullable(inner: Value) -> Value {
    json!({"anyOf": [inner, {"type": "null"}]})
}

pub fn time(description: &str) -> Value {
    json!({"type": "string", "format": "date-time", "description": description, "examples": ["2025-07-04T15:00:00.000Z"]})
}

pub fn id(description: &str) -> Value {
    json!({"type": "integer", "format": "int64", "minimum": 1, "description": description})
}

pub fn text(description: &str, min: u32, max: u32) -> Value {
    json!({"type": "string", "minLength": min, "maxLength": max, "description": description})
}

/// One of our words; the first is the default where there is one.
pub fn words<'a>(words: impl IntoIterator<Item = &'a str>, description: &str) -> Value {
    json!({"type": "string", "enum": words.into_iter().collect::<Vec<_>>(), "description": description})
}

pub fn with_default(mut schema: Value, default: Value) -> Value {
    schema["default"] = default;
    schema
}

/// An object that has exactly these members; all of them in every answer, `required` of them in a request.
pub fn object(description: &str, required: &[&str], members: Vec<(&str, Value)>) -> Value {
    let properties: Map<String, Value> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    json!({
        "type": "object",
        "description": description,
        "required": required,
        "properties": properties,
        "additionalProperties": false
    })
}

/// An object of an answer: every member is there.
pub fn answer(description: &str, members: Vec<(&str, Value)>) -> Value {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    object(description, &names, members.clone())
}

pub fn list_of(items: Value, description: &str) -> Value {
    json!({"type": "array", "items": items, "description": description})
}

/// A page of a list.
pub fn list(item: &str, next: Value) -> Value {
    answer(
        &format!("A list of {item} objects, and where it goes on"),
        vec![("items", json!({"type": "array", "items": schema(item)})), ("next", next)],
    )
}
