//! The OpenAPI 3.1 document, from the routes and the types of their bodies and answers.

use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::{Value, json};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, Content, HttpMethod, InfoBuilder, License, OpenApi, OpenApiBuilder, Paths, Ref, ResponseBuilder,
    SecurityRequirement, Server,
};
use utoipa::{PartialSchema, ToSchema};

use super::endpoint::Endpoint;
use super::error::{CODES, ErrorBody};
use super::finish;

pub const ROOT: &str = "/api/v1";

const DESCRIPTION: &str = "Times are RFC 3339, UTC, with milliseconds. Unknown members and parameters are refused by name. \
    Lists come newest first; `next` is the `after` of the following page, null at the end. A filter looks at 100,000 \
    runs or 200,000 jobs for one page: a page may have fewer items than `limit`, or none, and still a `next`. \
    Bodies are read as JSON under any content type.";

const TAGS: [(&str, &str); 15] = [
    ("apps", "Groups of executors under one name"),
    ("pauses", "Times in which the schedules of an app, or of all apps, send nothing"),
    ("retention", "How long runs are kept"),
    ("calendars", "Named lists of days on which jobs do not run"),
    ("limits", "How many runs are at work together, over all nodes"),
    ("jobs", "Definitions: what runs, when, where"),
    ("backfills", "Runs for instants of the past"),
    ("runs", "One delivery of one fire to one executor"),
    ("misfires", "Ranges of instants that did not run"),
    ("alarms", "What an operator should know"),
    ("alerts", "Which alarms reach whom: rules, channels, and what was sent"),
    ("audit", "Who did what, and what was refused"),
    ("reports", "What runs came to, by day, app and job; independent of how long runs are kept"),
    ("ahead", "What will happen: previews and forecasts, by the rules of the planner"),
    ("document", "This document"),
];

/// The document as it is served.
pub struct Text(pub Bytes);

/// Served without a token: it holds nothing that the source does not.
pub async fn serve(request: HttpRequest) -> HttpResponse {
    let text = request.app_data::<Text>().map_or_else(Bytes::new, |text| text.0.clone());
    HttpResponse::Ok().content_type("application/json").body(text)
}

/// The document of these endpoints.
pub fn document(endpoints: Vec<Endpoint>) -> Value {
    let mut document = json!(generated(endpoints));
    document["info"]["summary"] = json!("Apps, jobs, runs and skipped instants of a Carillon cluster");
    finish::schemas(&mut document);
    document
}

fn generated(endpoints: Vec<Endpoint>) -> OpenApi {
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("The setting --api-token (CARILLON_API_TOKEN)"));
    let mut components = ComponentsBuilder::new()
        .security_scheme("token", SecurityScheme::Http(token.build()))
        .schema(ErrorBody::name(), ErrorBody::schema());
    let mut schemas = vec![];
    ErrorBody::schemas(&mut schemas);
    let mut paths = Paths::new();
    for endpoint in endpoints {
        let method = match endpoint.route.method.as_str() {
            "GET" => HttpMethod::Get,
            "PUT" => HttpMethod::Put,
            "DELETE" => HttpMethod::Delete,
            "PATCH" => HttpMethod::Patch,
            _ => HttpMethod::Post,
        };
        paths.add_path_operation(endpoint.route.path, vec![method], endpoint.operation);
        endpoint.schemas.iter().for_each(|add| add(&mut schemas));
    }
    components = components.schemas_from_iter(schemas);
    for status in [400, 401, 403, 404, 409, 413, 429, 500, 502, 503] {
        let codes = CODES.iter().filter(|(_, own, _)| *own == status);
        let lines: Vec<String> = codes.map(|(code, _, meaning)| format!("`{code}`: {meaning}")).collect();
        let content = Content::new(Some(Ref::from_schema_name(ErrorBody::name())));
        let response = ResponseBuilder::new().description(lines.join("; ")).content("application/json", content);
        components = components.response(format!("Error{status}"), response);
    }
    let tags = TAGS.map(|(name, text)| TagBuilder::new().name(name).description(Some(text)).build());
    let mut license = License::new("Apache-2.0");
    license.identifier = Some("Apache-2.0".to_owned());
    let info = InfoBuilder::new().title("Carillon management API").version(env!("CARGO_PKG_VERSION"));
    OpenApiBuilder::new()
        .info(info.description(Some(DESCRIPTION)).license(Some(license)))
        .servers(Some([Server::new(ROOT)]))
        .security(Some([SecurityRequirement::new("token", Vec::<String>::new())]))
        .tags(Some(tags))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn value() -> Value {
        document(crate::web::api::routes::all())
    }

    #[test]
    fn every_reference_resolves() {
        let document = value();
        let mut found = BTreeSet::new();
        finish::references(&document, &mut found);
        assert!(found.len() > 15, "{found:?}");
        for reference in &found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        for kind in ["schemas", "responses"] {
            for name in document["components"][kind].as_object().unwrap().keys() {
                assert!(found.contains(&format!("#/components/{kind}/{name}")), "{kind}/{name} is used nowhere");
            }
        }
    }

    #[test]
    fn every_operation_is_complete() {
        let document = value();
        let mut ids = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
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

    /// Attributes only take literals; the rules have constants.
    #[test]
    fn the_ranges_are_those_of_the_rules() {
        use carillon_engine::manage::{MAX_CONCURRENT, NOTE_CHARS};
        use carillon_store::retention::rules::{DEFAULT, MAX_DAYS, MAX_FAILURES, MAX_RUNS};
        let document = value();
        let schema = |place: &str| {
            &document["components"]["schemas"][place.split_once('.').unwrap().0]["properties"]
                [place.split_once('.').unwrap().1]
        };
        let max = |place: &str| schema(place)["maximum"].as_i64().unwrap();
        assert_eq!(max("BackfillRequest.max_concurrent"), i64::from(MAX_CONCURRENT));
        assert_eq!(schema("Resolution.note")["maxLength"], NOTE_CHARS);
        assert_eq!(max("ExecutorUpdate.weight"), i64::from(*carillon_scheduler::route::WEIGHTS.end()));
        let rules = [
            ("days", MAX_DAYS, DEFAULT.days),
            ("failure_days", MAX_DAYS, DEFAULT.failure_days),
            ("failures", MAX_FAILURES, DEFAULT.failures),
            ("runs", MAX_RUNS, DEFAULT.runs),
        ];
        for (name, most, default) in rules {
            for schema in ["Retention", "RetentionInForce", "RetentionUpdate"] {
                assert_eq!(max(&format!("{schema}.{name}")), i64::from(most));
            }
            let text = schema(&format!("RetentionInForce.{name}"))["description"].as_str().unwrap();
            assert!(text.ends_with(&format!(" {default} where nothing is set")), "{text}");
        }
    }
}
