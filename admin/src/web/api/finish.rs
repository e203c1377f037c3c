//! What the derived schemas lack: an object that is composed of others becomes one object, answers are complete, and members
//! that are not listed are refused.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

const SCHEMAS: &str = "#/components/schemas/";

/// Finishes the schemas of a document.
pub fn schemas(document: &mut Value) {
    let Some(Value::Object(derived)) = document.pointer("/components/schemas").cloned() else {
        return;
    };
    let requests = of_requests(document, &derived);
    let mut schemas = derived.clone();
    for (name, schema) in &mut schemas {
        merge(schema, &derived);
        // The members of an error are optional, those of all other answers are always there.
        close(schema, name != "Error" && !requests.contains(name));
    }
    document["components"]["schemas"] = Value::Object(schemas.clone());
    let mut used = BTreeSet::new();
    references(document, &mut used);
    schemas.retain(|name, _| used.contains(&format!("{SCHEMAS}{name}")));
    document["components"]["schemas"] = Value::Object(schemas);
}

/// The names of the schemas that a request body consists of.
fn of_requests(document: &Value, schemas: &Map<String, Value>) -> BTreeSet<String> {
    let mut left = BTreeSet::new();
    for operation in document["paths"].as_object().into_iter().flat_map(Map::values) {
        for method in operation.as_object().into_iter().flat_map(Map::values) {
            references(&method["requestBody"], &mut left);
        }
    }
    let mut names = BTreeSet::new();
    while let Some(reference) = left.pop_first() {
        let name = reference.trim_start_matches(SCHEMAS);
        if names.insert(name.to_owned()) {
            references(&schemas[name], &mut left);
        }
    }
    names
}

/// All references inside a value.
pub fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// Replaces `allOf` by one object with all members, because a refusal of other members would apply to each part by itself, and
/// `oneOf` with a single alternative by that alternative.
fn merge(schema: &mut Value, all: &Map<String, Value>) {
    let members = match schema {
        Value::Object(members) => members,
        Value::Array(items) => return items.iter_mut().for_each(|item| merge(item, all)),
        _ => return,
    };
    if let Some(Value::Array(parts)) = members.remove("allOf") {
        let (mut properties, mut required) = (Map::new(), vec![]);
        for mut part in parts {
            if let Some(name) = part["$ref"].as_str().and_then(|text| text.strip_prefix(SCHEMAS)) {
                part = all[name].clone();
            }
            merge(&mut part, all);
            if let Value::Object(more) = part["properties"].take() {
                properties.extend(more);
            }
            if let Value::Array(more) = part["required"].take() {
                required.extend(more);
            }
            if let Value::String(text) = part["description"].take() {
                members.entry("description").or_insert(json!(text));
            }
        }
        members.extend([("type".to_owned(), json!("object")), ("properties".to_owned(), json!(properties))]);
        members.insert("required".to_owned(), json!(required));
    }
    if let Some(Value::Array(items)) = members.get_mut("oneOf") {
        items.dedup();
    }
    if members.get("oneOf").and_then(Value::as_array).is_some_and(|items| items.len() == 1)
        && let Some(Value::Array(mut only)) = members.remove("oneOf")
        && let Some(Value::Object(only)) = only.pop()
    {
        for (name, value) in only {
            members.entry(name).or_insert(value);
        }
    }
    members.values_mut().for_each(|value| merge(value, all));
}

fn close(schema: &mut Value, is_complete: bool) {
    match schema {
        Value::Object(members) => {
            let names =
                members.get("properties").and_then(Value::as_object).map(|all| json!(all.keys().collect::<Vec<_>>()));
            if let Some(names) = names {
                members.insert("additionalProperties".to_owned(), json!(false));
                if is_complete {
                    members.insert("required".to_owned(), names);
                }
            }
            members.values_mut().for_each(|value| close(value, is_complete));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, is_complete)),
        _ => {}
    }
}
