//! The OpenAPI 3.1 document: written by hand, its words taken from the types, held to the routes and to real answers by
//! tests.

mod ahead_schemas;
mod build;
mod explained_schemas;
mod job_schemas;
mod operation;
mod paths;
mod retention_schemas;
mod route_schemas;
mod schedule_schemas;
mod schemas;

use std::sync::LazyLock;

use actix_web::HttpResponse;
use serde_json::{Value, json};

use super::error::Error;
use super::query::Query;

static DOCUMENT: LazyLock<String> = LazyLock::new(|| value().to_string());

/// Served without a token: it holds nothing that the source does not.
pub async fn document(query: Query) -> Result<HttpResponse, Error> {
    query.finish()?;
    Ok(HttpResponse::Ok().content_type("application/json").body(DOCUMENT.as_str()))
}

fn value() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Carillon management API",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Apps, jobs, runs and skipped instants of a Carillon cluster",
            "description": "Times are RFC 3339, UTC, with milliseconds. Unknown members and parameters are refused by name. \
                Lists come newest first; `next` is the `after` of the following page, null at the end. \
                Bodies are read as JSON whatever their content type says.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
        },
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "tags": [
            {"name": "apps", "description": "Groups of executors under one name"},
            {"name": "retention", "description": "How long runs are kept"},
            {"name": "calendars", "description": "Named lists of days on which jobs do not run"},
            {"name": "jobs", "description": "Definitions: what runs, when, where"},
            {"name": "backfills", "description": "Runs for instants of the past"},
            {"name": "runs", "description": "One delivery of one fire to one executor"},
            {"name": "misfires", "description": "Ranges of instants that did not run"},
            {"name": "alarms", "description": "What somebody should hear of"},
            {"name": "ahead", "description": "What will happen: previews and forecasts, by the rules of the planner"},
            {"name": "document", "description": "This document"}
        ],
        "paths": paths::all(),
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The setting --api-token (CARILLON_API_TOKEN)"
                }
            },
            "schemas": schemas::all(),
            "responses": schemas::failures(),
            "parameters": paths::shared_parameters()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    // covers: 001-45
    #[test]
    fn every_reference_resolves() {
        let document = value();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        assert!(found.len() > 15, "{found:?}");
        for reference in &found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        for kind in ["schemas", "responses", "parameters"] {
            for name in document["components"][kind].as_object().unwrap().keys() {
                assert!(found.contains(&format!("#/components/{kind}/{name}")), "{kind}/{name} is used nowhere");
            }
        }
    }

    // covers: 001-45
    #[test]
    fn every_route_is_described_and_no_other() {
        let document = value();
        let described: BTreeSet<(String, String)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, item)| {
                let methods = item.as_object().unwrap().keys().filter(|key| *key != "parameters");
                methods.map(|method| (path.clone(), method.to_uppercase())).collect::<Vec<_>>()
            })
            .collect();
        let routed = super::super::ROUTES
            .iter()
            .flat_map(|(path, methods)| methods.iter().map(|method| ((*path).to_owned(), (*method).to_owned())))
            .collect();
        assert_eq!(described, routed);
    }

    #[test]
    fn every_operation_is_complete() {
        let document = value();
        let mut ids = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap().iter().filter(|(key, _)| *key != "parameters") {
                let place = format!("{method} {path}");
                assert!(ids.insert(operation["operationId"].as_str().expect(&place).to_owned()), "{place}");
                assert!(operation["summary"].is_string() && operation["tags"][0].is_string(), "{place}");
                let answers = operation["responses"].as_object().unwrap();
                assert!(answers.keys().any(|status| status.starts_with('2')), "{place}");
                assert_eq!(answers.contains_key("401"), path != "/openapi.json", "{place}");
                assert_eq!(path.contains('{') || path == "/preview", answers.contains_key("404"), "{place}");
            }
        }
    }
}
