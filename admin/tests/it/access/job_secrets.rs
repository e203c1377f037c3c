//! Secrets that jobs send: nothing that the program stores, shows or logs has them, as they are or encoded.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use carillon_accounts::secret::random_secret;
use carillon_testkit::{AdminClient, Program, ProgramSettings, RecordingExecutor, Reply, wait_for};
use serde_json::{Value, json};

use crate::console::client::ConsoleClient;
use crate::program::{carillon, ended, settings};

/// What is searched, with its name.
type Places = Vec<(String, Vec<u8>)>;

/// The forms in which a secret may stand somewhere: as it is, in hexadecimal digits, and in base64 behind any number of other bytes.
fn forms(secret: &str) -> Vec<String> {
    let digits: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![secret.to_owned(), digits.to_uppercase(), digits];
    for before in 0..3 {
        let bytes = [&vec![b'x'; before][..], secret.as_bytes()].concat();
        for encoded in [STANDARD.encode(&bytes), URL_SAFE.encode(&bytes)] {
            // The first and the last characters are also of the bytes around it.
            let whole = encoded.trim_end_matches('=');
            forms.push(whole[(before * 8).div_ceil(6)..whole.len() - 1].to_owned());
        }
    }
    forms
}

fn assert_nowhere(secret: &str, places: &Places) {
    for form in forms(secret) {
        for (place, bytes) in places {
            let is_there = bytes.windows(form.len()).any(|window| window == form.as_bytes());
            assert!(!is_there, "{form} is in {place}");
        }
    }
}

#[test]
fn each_form_of_a_secret_is_searched_for() {
    let secret = "s3cret-of-a-job-4711";
    for text in [
        secret.to_owned(),
        STANDARD.encode(secret),
        STANDARD.encode(format!("u:{secret}")),
        STANDARD.encode(format!("user:{secret}!")),
        "7333637265742d6f662d612d6a6f622d34373131".to_owned(),
    ] {
        assert!(forms(secret).iter().any(|form| text.contains(form)), "{text}");
    }
}

/// An executor and a service that repeat what they are sent.
struct Parties {
    executor: RecordingExecutor,
    service: RecordingExecutor,
}

impl Parties {
    async fn start(admin: &AdminClient, secret: &str) -> Self {
        let (executor, service) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        executor.register(admin, "orders").await;
        let text = secret.to_owned();
        executor.report(admin, move |run| (if run % 2 == 0 { 200 } else { 500 }, format!("was given {text}")));
        let page = json!({"fromLineNum": 1, "toLineNum": 1, "logContent": format!("Param: {secret}\n"), "isEnd": true});
        executor.reply_to("/log", Reply::Body(json!({"code": 200, "content": page}).to_string()));
        service.reply_to("/hook", Reply::Body(json!({"key": secret}).to_string()));
        Self { executor, service }
    }
}

/// The jobs of the test: parameters for an executor, a request with the secret in each of its parts, and a run that is refused.
async fn create_jobs(node: &Program, service: &str) -> Vec<i64> {
    let request = |auth: Value| {
        let headers = json!({"X-Key": "{{secret.KEY}}"});
        json!({"url": format!("{service}/hook"), "headers": headers, "body": r#"{"key": "{{secret.KEY}}"}"#, "auth": auth})
    };
    let basic = json!({"basic": {"user": "u", "password": "KEY"}});
    let drafts = [
        json!({"handler": "handle", "params": r#"{"key": "{{secret.KEY}}"}"#}),
        json!({"handler": "handle", "params": "{{scheduled_at}} {{secret.KEY}}"}),
        json!({"handler": "", "http": request(basic)}),
        json!({"handler": "", "http": request(json!({"bearer": "KEY"}))}),
    ];
    let mut jobs = vec![];
    for (number, mut draft) in drafts.into_iter().enumerate() {
        let members = draft.as_object_mut().unwrap();
        members.insert("app".into(), "orders".into());
        members.insert("name".into(), format!("job {number}").into());
        members.insert("key".into(), format!("job-{number}").into());
        jobs.push(node.api().post("/jobs", draft).await.ok()["id"].as_i64().unwrap());
    }
    jobs
}

/// Runs each job until it has ended; the runs.
async fn run_all(node: &Program, jobs: &[i64]) -> Vec<i64> {
    let api = node.api();
    for job in jobs {
        api.post(&format!("/jobs/{job}/run"), json!({})).await.ok();
    }
    wait_for("each run has ended", async || {
        let runs = api.get("/runs?limit=1000").await;
        let states = runs.column("state");
        states.len() >= jobs.len() && states.iter().all(|state| state == "succeeded" || state == "failed")
    })
    .await;
    api.get("/runs?limit=1000").await.column("id").iter().map(|id| id.as_i64().unwrap()).collect()
}

/// What the API, the console, the metrics and an export show.
async fn shown(node: &Program, setup: &ProgramSettings, password: &str, jobs: &[i64], runs: &[i64]) -> Places {
    let (api, console) = (node.api(), ConsoleClient::new(&node.url()));
    console.sign_in("admin", password).await;
    assert_eq!(console.get("/jobs").await.status, 200);
    let mut paths: Vec<String> =
        ["runs", "jobs", "audit", "alerts", "alarms", "misfires", "reports"].map(str::to_owned).into();
    for job in jobs {
        paths.extend(
            ["", "/explain", "/history", "/edit", "/copy", "/run", "/next"].map(|page| format!("jobs/{job}{page}")),
        );
    }
    for run in runs {
        paths.extend(["", "/log", "/log.txt", "/rerun"].map(|page| format!("runs/{run}{page}")));
        paths.extend(jobs.iter().map(|job| format!("jobs/{job}/run?like={run}")));
    }
    paths.extend(["audit/export".to_owned(), "apps".to_owned()]);
    let mut places: Places = vec![];
    for path in paths {
        let answer = console.get(&format!("/{path}")).await;
        assert!(answer.status < 500, "{path}: {}", answer.body);
        places.push((format!("the page /{path}"), answer.body.into_bytes()));
        let answer = api.get(&path).await;
        places.push((format!("the API's /{path}"), answer.json.to_string().into_bytes()));
    }
    for job in jobs {
        let draft = api.get(&format!("/jobs/{job}")).await.ok();
        let preview = api.post("/preview", json!({"schedule": draft["schedule"]})).await;
        places.push(("the preview".to_owned(), preview.json.to_string().into_bytes()));
    }
    places.push(("the metrics".to_owned(), api.metrics().await.into_bytes()));
    let mut export = carillon(&["export", "--app", "orders", "--server", &node.url()]);
    export.env("CARILLON_TOKEN", &setup.api_token);
    let (code, files, errors) = ended(export);
    assert_eq!(code, Some(0), "{errors}");
    assert!(files.contains("secret.KEY"), "{files}");
    places.push(("an export".to_owned(), (files + &errors).into_bytes()));
    places
}

/// All files of a folder: the database with its journal.
fn files(folder: &Path, places: &mut Places) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, places),
            false => places.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
}

// covers: S34, 001-44
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_of_a_job_is_in_no_dump_log_audit_or_page() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, password) = (random_secret(), random_secret());
    let setup = settings(folder.path()).env("RUST_LOG", "debug").env("CARILLON_ADMIN_PASSWORD", &password);
    let mut setup = setup.arg("--http-networks=127.0.0.1");
    let node = setup.start().await;
    let app = node.api().post("/apps", json!({"name": "orders"})).await.ok()["id"].as_i64().unwrap();
    node.api().put(&format!("/apps/{app}/secrets/KEY"), json!({"value": secret})).await.ok();
    let admin = AdminClient::new([node.url()], &setup.access_token);
    let parties = Parties::start(&admin, &secret).await;
    let jobs = create_jobs(&node, &parties.service.address).await;
    let runs = run_all(&node, &jobs).await;
    assert!(parties.executor.runs().iter().any(|run| run.body.contains(&secret)), "the executor was sent it");
    assert!(parties.service.received("/hook").iter().any(|call| call.body.contains(&secret)), "so was the service");

    let mut places = shown(&node, &setup, &password, &jobs, &runs).await;
    let is_masked = |(_, bytes): &(String, Vec<u8>)| String::from_utf8_lossy(bytes).contains("was given ***");
    assert!(places.iter().any(is_masked), "a result is shown without it");
    let is_named = |(_, bytes): &(String, Vec<u8>)| String::from_utf8_lossy(bytes).contains("{{secret.KEY}}");
    assert!(places.iter().any(is_named), "its name is shown");
    places.push(("the log".to_owned(), node.output().into_bytes()));
    files(folder.path(), &mut places);
    assert!(places.iter().any(|(place, _)| place.ends_with("carillon.db")));
    assert_nowhere(&secret, &places);
}
