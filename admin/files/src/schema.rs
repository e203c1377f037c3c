//! The JSON schema of a file, for editors and checks: the frame of a file around the schemas of the HTTP API.

use serde_json::{Map, Value, json};

const COMPONENTS: &str = "#/components/schemas/";
const JOB: &str = "JobRequest";
const LIMIT: &str = "LimitMembers";
const NODE: &str = "WorkflowNodeDefinition";
/// `key` or `app/key`
const REFERENCE: &str = "^([A-Za-z0-9][A-Za-z0-9._-]*/)?[a-z0-9._-]{1,64}$";

/// The schema, from the OpenAPI document of the HTTP API. Its schemas are those of JSON Schema 2020-12.
pub fn schema(openapi: &Value) -> Value {
    let schemas = openapi.pointer("/components/schemas").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut job = schemas.get(JOB).cloned().unwrap_or_default();
    as_in_files(&mut job);
    let mut definitions = Map::new();
    add_used(&job, &schemas, &mut definitions);
    if let Some(node) = definitions.get_mut(NODE) {
        name_job_by_key(node);
    }
    definitions.insert("Job".to_owned(), job);
    definitions.insert("Limit".to_owned(), schemas.get(LIMIT).cloned().unwrap_or_else(|| json!({"type": "object"})));
    let mut definitions = Value::Object(definitions);
    relocate(&mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Carillon jobs",
        "type": "object",
        "additionalProperties": false,
        "required": ["format", "set"],
        "properties": {
            "format": {"const": 1},
            "set": {"type": "string", "pattern": "^[a-z0-9._-]{1,64}$", "description": "The name of the set of files; it owns the jobs"},
            "apps": {"type": "array", "items": {"$ref": "#/$defs/App"}},
            "limits": {"type": "array", "items": {"$ref": "#/$defs/Limit"}},
            "jobs": {"type": "array", "items": {"$ref": "#/$defs/Job"}},
        },
        "$defs": definitions,
    })
}

/// The schema of a job with what a file says in another way: the set is named once, children are keys.
fn as_in_files(job: &mut Value) {
    if let Some(members) = job.get_mut("properties").and_then(Value::as_object_mut) {
        members.remove("set");
        let child = json!({"type": "string", "pattern": REFERENCE});
        let text = "Keys of the jobs that run after each success: `key` of the same app, or `app/key`";
        members.insert(
            "children".to_owned(),
            json!({"type": "array", "items": child, "maxItems": 100, "description": text}),
        );
        let from = json!({"type": "string", "description": "The key that the job had"});
        let moved = json!({"type": "object", "additionalProperties": false, "required": ["from"], "properties": {"from": from}});
        members.insert("moved".to_owned(), moved);
        if let Some(key) = members.get_mut("key") {
            key["pattern"] = json!("^[a-z0-9._-]{1,64}$");
            key.as_object_mut().map(|key| key.remove("default"));
        }
        if let Some(enabled) = members.get_mut("enabled") {
            enabled["description"] = json!("Whether its schedule is in force; left out: it stays as it is");
        }
    }
    job["required"] = json!(["app", "key", "name"]);
    let runs = |member: &str| json!({"required": [member]});
    job["anyOf"] = json!([runs("handler"), runs("script"), runs("workflow"), runs("http")]);
}

/// A file knows no numbers of jobs.
fn name_job_by_key(node: &mut Value) {
    let text = "The key of the job that it runs: `key` of the same app, or `app/key`";
    if let Some(job) = node.pointer_mut("/properties/job") {
        *job = json!({"type": "string", "pattern": REFERENCE, "description": text});
    }
}

/// Adds the schemas that `value` refers to, and those that these refer to.
fn add_used(value: &Value, schemas: &Map<String, Value>, found: &mut Map<String, Value>) {
    found.entry("App").or_insert_with(|| {
        let name = json!({"type": "string", "minLength": 4, "maxLength": 64});
        let title = json!({"type": "string", "maxLength": 64});
        let properties = json!({"name": name, "title": title});
        json!({"type": "object", "additionalProperties": false, "required": ["name"], "properties": properties})
    });
    match value {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix(COMPONENTS));
            if let Some((name, schema)) = name.and_then(|name| Some((name, schemas.get(name)?)))
                && !found.contains_key(name)
            {
                found.insert(name.to_owned(), schema.clone());
                add_used(schema, schemas, found);
            }
            members.values().for_each(|value| add_used(value, schemas, found));
        }
        Value::Array(items) => items.iter().for_each(|item| add_used(item, schemas, found)),
        _ => {}
    }
}

/// References into `$defs`.
fn relocate(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(path)) = members.get_mut("$ref") {
                *path = path.replace(COMPONENTS, "#/$defs/");
            }
            members.values_mut().for_each(relocate);
        }
        Value::Array(items) => items.iter_mut().for_each(relocate),
        _ => {}
    }
}
