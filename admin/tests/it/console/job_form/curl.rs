//! The request of an HTTP job from a line of curl: it fills the form in, and saves nothing.

use carillon_scheduler::job::http::BasicAuth;
use carillon_scheduler::{HttpAuth, HttpDraft, HttpMethod};
use carillon_store::audit::list::AuditFilter;

use super::client::{Answer, Console};
use super::forms::but;
use super::run;

const LINE: &str = "curl -kX PUT 'https://api.example.com/days?a=1' \\\r\n  -u 'ada:s3cr3t-x' -H 'Content-Type: application/json' \\\r\n  \
    -H 'X-Api-Key: s3cr3t-y' --compressed -m 9 --data-raw '{\"a\":1}'";

/// What a field of the answer holds: an input, a select or a text of several lines.
fn shown(answer: &Answer, field: &str) -> String {
    let start = answer.body.find(&format!(" name=\"{field}\"")).unwrap_or_else(|| panic!("{field}: {}", answer.body));
    let tag = &answer.body[start..];
    let text = match tag.split_once('>').unwrap() {
        (input, _) if input.contains("value=\"") => input.split("value=\"").nth(1).unwrap().split('"').next().unwrap(),
        (_, rest) if rest.starts_with("<option") => {
            let options = rest.split("</select>").next().unwrap();
            let chosen = options.split("<option ").find(|option| option.contains(" selected")).unwrap_or_default();
            chosen.split("value=\"").nth(1).unwrap_or_default().split('"').next().unwrap()
        }
        (_, rest) => rest.split("</textarea>").next().unwrap().trim_start_matches('\n'),
    };
    text.replace("&#34;", "\"").replace("&#39;", "'").replace("&#38;", "&")
}

/// The fields that the line has filled in, as a browser sends them back.
fn filled(answer: &Answer) -> Vec<(&'static str, String)> {
    let names = [
        "http_method",
        "http_url",
        "http_headers",
        "http_body",
        "http_timeout_seconds",
        "http_auth",
        "http_secret",
        "http_user",
        "http_expect_status",
    ];
    names.into_iter().map(|name| (name, shown(answer, name))).collect()
}

// covers: 001-44
#[test]
fn a_line_fills_in_the_form_of_a_new_job_and_saves_nothing() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let form = admin.get("/jobs/new").await;
        assert!(form.body.contains("value=\"read_curl\"") && !form.body.contains("data-testid=\"curl-notes\""));
        let read = [("runs", "http"), ("http_curl", LINE), ("step", "read_curl"), ("name", "Close the day")];
        let answer = admin.submit("/jobs", &but(&read)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(console.store.jobs().get(1).await.unwrap().is_none(), "nothing is saved");
        assert!(!answer.body.contains("s3cr3t"), "credentials are not shown again: {}", answer.body);
        assert_eq!((shown(&answer, "http_curl"), shown(&answer, "name")), (String::new(), "Close the day".to_owned()));
        assert!(answer.body.contains("id=\"runs-http\" value=\"http\" checked"));
        for text in [
            "The fields below are filled in, and nothing is saved yet.",
            "<code translate=\"no\">-u</code>: save the value as the secret API_EXAMPLE_COM_PASSWORD of the app",
            "<code translate=\"no\">-H X-Api-Key</code>: save the value as the secret API_EXAMPLE_COM_X_API_KEY of the app",
            "<code translate=\"no\">-k</code>: certificates are always checked",
            "<code translate=\"no\">--compressed</code>: answers are not compressed",
            "<code translate=\"no\">-X</code>: Method",
        ] {
            assert!(answer.body.contains(text), "{text}: {}", answer.body);
        }
        let fields = filled(&answer);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let saved = admin.submit("/jobs", &but(&[&read[..1], &fields[..]].concat())).await;
        assert_eq!(saved.status, 303, "{}", saved.body);
        let request = console.store.jobs().get(1).await.unwrap().unwrap().draft.http.unwrap();
        let password = "API_EXAMPLE_COM_PASSWORD".to_owned();
        let headers = [("Content-Type", "application/json"), ("X-Api-Key", "{{secret.API_EXAMPLE_COM_X_API_KEY}}")];
        let expected = HttpDraft {
            method: HttpMethod::Put,
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            body: "{\"a\":1}".to_owned(),
            timeout_seconds: 9,
            auth: Some(HttpAuth::Basic(BasicAuth { user: "ada".to_owned(), password })),
            ..HttpDraft::new("https://api.example.com/days?a=1")
        };
        assert_eq!(request, expected);
    });
}

// covers: 001-44
#[test]
fn a_line_replaces_the_request_in_the_form_of_a_job_that_is_edited() {
    run(async {
        let console = Console::start().await;
        let request = HttpDraft { body: "before".into(), ..HttpDraft::new("http://a/") };
        console.job(|draft| (draft.handler, draft.http) = (String::new(), Some(request.clone()))).await;
        let admin = console.admin().await;
        let fields = [
            ("revision", "1"),
            ("runs", "http"),
            ("http_url", "http://a/"),
            ("http_body", "before"),
            ("http_timeout_seconds", "40"),
            ("http_expect_status", "204"),
            ("http_auth", "hmac"),
            ("http_secret", "SIGN"),
            ("http_curl", "curl http://b/ --oauth2-bearer '{{secret.MINE}}'"),
            ("step", "read_curl"),
        ];
        let answer = admin.submit("/jobs/1/edit", &but(&fields)).await;
        assert_eq!((answer.status, answer.hidden("revision")), (200, "1".to_owned()), "{}", answer.body);
        let found = filled(&answer);
        let found: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(found, ["GET", "http://b/", "", "", "40", "bearer", "MINE", "", "204"]);
        let job = console.store.jobs().get(1).await.unwrap().unwrap();
        assert_eq!((job.revision, job.draft.http), (1, Some(request)));
        let audit = console.store.audit().list(&AuditFilter { limit: 100, ..AuditFilter::default() }).await.unwrap();
        assert!(!format!("{:?}", audit.items).contains("MINE"), "{:?}", audit.items);
    });
}

// covers: 001-44
#[test]
fn a_line_that_cannot_be_read_has_all_its_faults_at_its_field() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let with = |line: &'static str| {
            but(&[("runs", "http"), ("http_url", "http://a/"), ("http_curl", line), ("step", "read_curl")])
        };
        let line = "curl -X OPTIONS -d @file --form a=b http://b/ http://c/";
        let answer = admin.submit("/jobs", &with(line)).await;
        assert_eq!((answer.status, shown(&answer, "http_url")), (422, "http://a/".to_owned()));
        assert_eq!(shown(&answer, "http_curl"), line, "it can be corrected");
        for text in [
            "&#96;-X&#96; names a method that HTTP jobs do not have",
            "&#96;-d&#96; reads a file",
            "&#96;--form&#96; has no counterpart",
            "has 2 URLs; a request has one",
        ] {
            assert!(answer.body.replace('`', "&#96;").matches(text).count() == 2, "{text}: {}", answer.body);
        }
        assert!(answer.body.contains("href=\"#http_curl\""), "{}", answer.body);
        let cmd = admin.submit("/jobs", &with("curl ^\"http://b/^\" ^\r\n  -H ^\"a: b^\"")).await;
        assert!(cmd.error("http_curl").is_some_and(|text| text.contains("copy it as cURL (bash)")), "{}", cmd.body);
        let unsendable = admin.submit("/jobs", &with("curl ftp://b/ -X GET -d x -m 3600")).await;
        assert_eq!(unsendable.status, 422, "{}", unsendable.body);
        for field in ["http_url", "http_body", "http_timeout_seconds"] {
            assert!(unsendable.error(field).is_some(), "{field}: {}", unsendable.body);
        }
    });
}

// covers: 001-44
#[test]
fn a_line_that_was_not_read_is_not_lost_when_the_job_is_saved() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let fields = [("runs", "http"), ("http_url", "http://a/"), ("http_curl", "curl http://b/")];
        let answer = admin.submit("/jobs", &but(&fields)).await;
        assert!(answer.error("http_curl").is_some_and(|text| text.contains("is not read yet")), "{}", answer.body);
        assert_eq!(shown(&answer, "http_curl"), "curl http://b/");
        assert!(console.store.jobs().get(1).await.unwrap().is_none());
        let handler = admin.submit("/jobs", &but(&[&fields[2..], &[("runs", "handler")]].concat())).await;
        assert_eq!(handler.status, 303, "{}", handler.body);
    });
}
