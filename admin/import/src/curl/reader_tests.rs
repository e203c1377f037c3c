use carillon_scheduler::HttpDraft;
use serde_json::{Value, json};

use super::notes::{Ignored, Meaning, Note, Unavailable};
use super::read;

/// The request of a line, which the rules allow.
fn request(line: &str) -> Value {
    let read = read(line).unwrap_or_else(|faults| panic!("{line}: {faults:?}"));
    assert_eq!(read.request.validate(), vec![], "{line}");
    serde_json::to_value(read.request).unwrap()
}

/// A request with these members.
fn expected(members: Value) -> Value {
    let draft: HttpDraft = serde_json::from_value(members).unwrap();
    serde_json::to_value(draft).unwrap()
}

const FORM: &str = "application/x-www-form-urlencoded";

// covers: 001-44
#[test]
fn a_line_is_the_request_that_curl_would_send() {
    let form = json!({"Content-Type": FORM});
    let json_headers = json!({"Accept": "application/json", "Content-Type": "application/json"});
    let a = "http://a/";
    let get = |headers: Value| json!({"method": "GET", "url": a, "headers": headers});
    let post = |body: &str, headers: &Value| json!({"url": a, "body": body, "headers": headers});
    for (line, members) in [
        ("curl http://a/", get(json!({}))),
        ("$ /usr/bin/curl -sS --url=http://a/ --no-progress-meter", get(json!({}))),
        ("curl -s -- http://a/", get(json!({}))),
        ("curl a", json!({"method": "GET", "url": "http://a"})),
        ("curl -I http://a/", json!({"method": "HEAD", "url": a})),
        ("curl -sSX PUT http://a/", json!({"method": "PUT", "url": a})),
        ("curl -XDELETE --request patch http://a/", json!({"method": "PATCH", "url": a})),
        ("curl -A me -e http://b/ http://a/", get(json!({"User-Agent": "me", "Referer": "http://b/"}))),
        ("curl -A '' -H 'Accept:' -H 'X-Empty;' http://a/", get(json!({"X-Empty": ""}))),
        ("curl -A me -H 'user-agent: you' http://a/", get(json!({"user-agent": "you"}))),
        ("curl -HAccept:x --header=B:\" c:d \" http://a/", get(json!({"Accept": "x", "B": "c:d"}))),
        ("curl -m 2.1 http://a/", json!({"method": "GET", "url": a, "timeout_seconds": 3})),
        ("curl -d a=1 --data-raw @b --data-binary 'c d' http://a/", post("a=1&@b&c d", &form)),
        ("curl --data-ascii '' http://a/", post("", &form)),
        ("curl --data-urlencode 'n=a b' --data-urlencode '=c&' http://a/", post("n=a+b&c%26", &form)),
        ("curl -d '{}' -H 'content-type: application/json' http://a/", {
            post("{}", &json!({"content-type": "application/json"}))
        }),
        (r#"curl --json '{"a":' --json=1} http://a/"#, post("{\"a\":1}", &json_headers)),
        ("curl --json {} -H 'Accept: x' http://a/", {
            post("{}", &json!({"Accept": "x", "Content-Type": "application/json"}))
        }),
        ("curl -X PUT -d x http://a/", json!({"method": "PUT", "url": a, "body": "x", "headers": form})),
        ("curl -G -d b=1 --data-urlencode 'c=d e' 'http://a/?f'", {
            json!({"method": "GET", "url": "http://a/?f&b=1&c=d+e"})
        }),
        ("curl -G -X POST -d b http://a/#c", json!({"url": "http://a/?b"})),
        ("curl \\\n  http://a/ \\\n  --data-raw $'it\\'s\\u0021\\n'", post("it's!\n", &form)),
        ("curl 'http://a/{{scheduled_at|%F}}' -d '{\"run\": {{run_id}}}'", {
            json!({"url": "http://a/{{scheduled_at|%F}}", "body": "{\"run\": {{run_id}}}", "headers": form})
        }),
    ] {
        assert_eq!(request(line), expected(members), "{line}");
    }
}

// covers: 001-44
#[test]
fn credentials_become_secrets_of_the_app_and_are_not_kept() {
    let bearer = |name: &str| json!({"auth": {"bearer": name}});
    let basic = |name: &str| json!({"auth": {"basic": {"user": "ada", "password": name}}});
    let header = |name: &str, secret: &str| json!({"headers": {name: format!("{{{{secret.{secret}}}}}")}});
    let (token, password) = ("API_EXAMPLE_COM_TOKEN", "API_EXAMPLE_COM_PASSWORD");
    for (options, members, meaning) in [
        ("-H 'Authorization: Bearer s3cr3t-x'", bearer(token), Meaning::Secret(token.into())),
        ("-H \"authorization: bearer $s3cr3t\"", bearer(token), Meaning::Secret(token.into())),
        ("--oauth2-bearer s3cr3t-x", bearer(token), Meaning::Secret(token.into())),
        ("--oauth2-bearer '{{secret.MINE}}'", bearer("MINE"), Meaning::Authentication),
        ("-u ada:s3cr3t:x", basic(password), Meaning::Secret(password.into())),
        ("-u ada", basic(password), Meaning::Secret(password.into())),
        ("--user 'ada:{{secret.MINE}}'", basic("MINE"), Meaning::Authentication),
        // ada:s3cr3t
        ("-H 'Authorization: Basic YWRhOnMzY3IzdA=='", basic(password), Meaning::Secret(password.into())),
        // s3cr3t:
        (
            "-H 'Authorization: Basic czNjcjN0Og=='",
            { header("Authorization", "API_EXAMPLE_COM_AUTHORIZATION") },
            Meaning::Secret("API_EXAMPLE_COM_AUTHORIZATION".into()),
        ),
        (
            "-u s3cr3t:",
            { header("Authorization", "API_EXAMPLE_COM_AUTHORIZATION") },
            Meaning::UserSecret("API_EXAMPLE_COM_AUTHORIZATION".into()),
        ),
        (
            "-H 'Authorization: token s3cr3t'",
            { header("Authorization", "API_EXAMPLE_COM_AUTHORIZATION") },
            Meaning::Secret("API_EXAMPLE_COM_AUTHORIZATION".into()),
        ),
        (
            "-H 'Authorization: token {{secret.MINE}}'",
            { json!({"headers": {"Authorization": "token {{secret.MINE}}"}}) },
            Meaning::Header,
        ),
        (
            "-H 'X-Api-Key: s3cr3t'",
            { header("X-Api-Key", "API_EXAMPLE_COM_X_API_KEY") },
            Meaning::Secret("API_EXAMPLE_COM_X_API_KEY".into()),
        ),
        (
            "-b 'sid=s3cr3t; b=c'",
            { header("Cookie", "API_EXAMPLE_COM_COOKIE") },
            Meaning::Secret("API_EXAMPLE_COM_COOKIE".into()),
        ),
        ("-u ada:s3cr3t --digest", json!({}), Meaning::Unavailable(Unavailable::Authentication)),
        ("-H 'Authorization: Digest username=\"s3cr3t\"'", json!({}), {
            Meaning::Unavailable(Unavailable::Authentication)
        }),
    ] {
        let line = format!("curl https://api.example.com:8443/ {options}");
        let mut members = members;
        members["method"] = "GET".into();
        members["url"] = "https://api.example.com:8443/".into();
        assert_eq!(request(&line), expected(members), "{line}");
        let read = read(&line).unwrap();
        assert!(read.notes.iter().any(|note| note.meaning == meaning), "{line}: {:?}", read.notes);
        assert!(!format!("{read:?}").contains("s3cr3t"), "{line}: {read:?}");
    }
    let in_url = request("curl https://ada:s3cr3t@api.example.com/");
    assert_eq!((&in_url["url"], &in_url["auth"]), (&json!("https://api.example.com/"), &basic(password)["auth"]));
}

#[test]
fn what_is_left_out_is_named() {
    let line = "curl -kLsf --compressed --retry 3 --connect-timeout=5 -x proxy --no-keepalive --cacert ca.pem --resolve a:1:b \
        -H 'Host: b' -H 'Content-Length: 3' -H 'Accept-Encoding: br' -H 'Expect:' \"http://a/$DAY#top\" -o /dev/null";
    let notes = read(line).unwrap().notes;
    let left_out = |note: &Note| match &note.meaning {
        Meaning::Ignored(why) => Some((note.option.clone(), format!("{why:?}"))),
        Meaning::Unavailable(why) => Some((note.option.clone(), format!("{why:?}"))),
        _ => None,
    };
    let found: Vec<(String, String)> = notes.iter().filter_map(left_out).collect();
    let ignored = |option: &str, why: Ignored| (option.to_owned(), format!("{why:?}"));
    let unavailable = |option: &str, why: Unavailable| (option.to_owned(), format!("{why:?}"));
    assert_eq!(
        found,
        [
            unavailable("-k", Unavailable::UncheckedTls),
            unavailable("-L", Unavailable::Redirects),
            ignored("-s", Ignored::Output),
            ignored("-f", Ignored::Status),
            ignored("--compressed", Ignored::Compression),
            ignored("--retry", Ignored::Retries),
            ignored("--connect-timeout", Ignored::Connection),
            unavailable("-x", Unavailable::Proxy),
            ignored("--no-keepalive", Ignored::Default),
            unavailable("--cacert", Unavailable::Certificates),
            unavailable("--resolve", Unavailable::Address),
            unavailable("-H Host", Unavailable::Host),
            ignored("-H Content-Length", Ignored::WrittenByServer),
            ignored("-H Accept-Encoding", Ignored::Compression),
            ignored("-H Expect", Ignored::RemovedHeader),
            ignored("-o", Ignored::Output),
            ignored("URL", Ignored::Fragment),
            unavailable("$DAY", Unavailable::Variable),
        ]
    );
}

#[test]
fn all_faults_are_named_at_once_without_values() {
    for (line, expected) in [
        ("", &["must begin with `curl`"][..]),
        ("wget http://a/", &["must begin with `curl`"]),
        ("curl -s", &["has no URL"]),
        ("curl a b --url c", &["has 3 URLs; a request has one"]),
        ("curl a | jq", &["has `|` outside of quotation marks; write the URL in them, and leave out further commands"]),
        ("curl ^\"http://a/^\"", &["has the escapes (^) of the Windows command prompt; copy it as cURL (bash)"]),
        ("curl a -X", &["`-X` needs a value"]),
        ("curl a --silent=yes", &["`--silent` takes no value"]),
        (
            "curl a --frobnicate=s3cr3t b -sQ c",
            &["`--frobnicate` is not known here; leave it out", "`-Q` is not known here; leave it out"],
        ),
        (
            "curl -X OPTIONS -m soon -H s3cr3t -H 'a b: s3cr3t' -u a:s3cr3t --oauth2-bearer s3cr3t a",
            &[
                "`-X` names a method that HTTP jobs do not have; allowed: POST, GET, PUT, PATCH, DELETE, HEAD",
                "`-m` needs a time in seconds",
                "`-H`: a header is written `Name: value` on one line",
                "`-H`: a header is written `Name: value` on one line",
                "has several of `-u`, `--oauth2-bearer`, the header `Authorization` and a user in the URL; keep one",
            ],
        ),
        (
            "curl a -F b=c -d @s3cr3t --data-urlencode n@s3cr3t --json @- -b jar -T f -H @h -K c --next",
            &[
                "`-F` has no counterpart in an HTTP job; leave it out",
                "`-d` reads a file, which the server does not have; write its text in its place",
                "`--data-urlencode` reads a file, which the server does not have; write its text in its place",
                "`--json` reads a file, which the server does not have; write its text in its place",
                "`-b` reads a file, which the server does not have; write its text in its place",
                "`-T` reads a file, which the server does not have; write its text in its place",
                "`-H` reads a file, which the server does not have; write its text in its place",
                "`-K` reads a file, which the server does not have; write its text in its place",
                "`--next` has no counterpart in an HTTP job; leave it out",
            ],
        ),
        ("curl a -H 'b: 1' -H 'B: 2'", &["the header `B` is given twice"]),
        (
            "curl a -H $'B: 1\\nC: 2' -A $'\\n'",
            &[
                "`-H B`: a header is written `Name: value` on one line",
                "`-A`: a header is written `Name: value` on one line",
            ],
        ),
        ("curl http://ada:s3/cr3t@a/", &["has a port that is not a number from 1 to 65535"]),
        ("curl a -m -1", &["`-m` needs a time in seconds"]),
        ("curl a -m inf", &["`-m` needs a time in seconds"]),
        ("curl a -m 1e99", &["`-m` needs a time in seconds"]),
    ] {
        let faults = read(line).unwrap_err();
        assert_eq!(faults, expected, "{line}");
        assert!(!faults.concat().contains("s3cr3t"), "{line}: {faults:?}");
    }
    let long = read(&format!("curl a -d {}", "b".repeat(200_000))).unwrap_err();
    assert_eq!(long, ["has 200010 bytes; at most 196608 are allowed"]);
}

/// As Chrome writes it.
#[test]
fn a_request_that_a_browser_has_copied_is_read() {
    let line = "curl 'https://shop.example.com/api/cart?x=1&y=2' \\\n  -H 'accept: application/json' \\\n  \
        -H 'accept-language: en-GB,en;q=0.9' \\\n  -H 'content-type: application/json' \\\n  -b 'sid=abc; theme=dark' \\\n  \
        -H 'sec-ch-ua: \"Chromium\";v=\"141\", \"Not?A_Brand\";v=\"8\"' \\\n  -H 'x-csrf-token: t0k3n' \\\n  \
        --data-raw $'{\"note\":\"it\\'s \\u0021\"}' \\\n  --compressed";
    let request = request(line);
    assert_eq!((&request["method"], &request["body"]), (&json!("POST"), &json!("{\"note\":\"it's !\"}")));
    let headers = json!({
        "Cookie": "{{secret.SHOP_EXAMPLE_COM_COOKIE}}",
        "accept": "application/json",
        "accept-language": "en-GB,en;q=0.9",
        "content-type": "application/json",
        "sec-ch-ua": "\"Chromium\";v=\"141\", \"Not?A_Brand\";v=\"8\"",
        "x-csrf-token": "{{secret.SHOP_EXAMPLE_COM_X_CSRF_TOKEN}}",
    });
    assert_eq!(request["headers"], headers);
}
