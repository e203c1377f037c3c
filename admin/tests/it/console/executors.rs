//! Executors: what is set of them, and how runs come to them.

use carillon_engine::runtime::Service as _;
use carillon_store::app::declared::jobs::DeclaredJob;
use carillon_store::{DeclarationSetting, DeclaredState};
use carillon_testkit::wait_for;

use super::client::{Console, START};
use super::pages::register;
use super::run;

// covers: 004-14
#[test]
fn weight_and_labels_of_an_executor_are_set_on_its_page() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let address = "http://10.0.0.2:9999/a";
        register(&console, address, "orders").await;
        let app = console.store.apps().by_name("orders").await.unwrap().unwrap();
        let settings = format!("/apps/{}/executor", app.id);
        let path = &format!("{settings}?address=http%3A%2F%2F10.0.0.2%3A9999%2Fa");
        assert!(admin.get("/apps").await.body.contains(&format!("href=\"{path}\"")));
        let page = admin.get(path).await.body;
        assert!(page.contains("The executor registers without a weight, which counts as 1."));
        let set = async |weight: &str, labels: &str| {
            let fields = [("address", address), ("weight", weight), ("labels", labels)];
            admin.submit(&settings, &fields).await
        };
        let wrong = set("101", "gpu").await;
        assert_eq!(wrong.status, 422);
        assert_eq!(wrong.error("weight"), Some("101 is not allowed; 1 to 100"));
        assert!(wrong.error("labels").unwrap().contains("write key=value"));
        assert!(wrong.body.contains("value=\"gpu\""), "what was typed stays");
        let saved = set("3", "zone=eu, gpu=yes").await;
        assert_eq!((saved.status, saved.location()), (303, "/apps"));
        let page = admin.get("/apps").await.body;
        assert!(page.contains("<code>gpu=yes,zone=eu</code>") && page.contains("3<span class=\"sub\">set</span>"));
        assert_eq!(set("", "").await.status, 303);
        assert!(!admin.get("/apps").await.body.contains("class=\"sub\">set"));
        assert_eq!(admin.get("/apps/1/executor?address=http://elsewhere/").await.status, 404);
        assert_eq!(admin.get("/apps/987654/executor?address=x").await.status, 404);
    });
}

// covers: S21
#[test]
fn an_address_is_entered_and_an_executor_drained_and_removed() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let app = console.store.apps().by_name("orders").await.unwrap().unwrap();
        let page = format!("/apps/{}", app.id);
        assert!(admin.get("/apps").await.body.contains(&format!("href=\"{page}\"")));
        let enter = async |address: &str| admin.submit(&format!("{page}/executors"), &[("address", address)]).await;
        let wrong = enter("10.0.0.3 <b>").await;
        assert_eq!(wrong.status, 422);
        assert!(wrong.error("address").is_some_and(|text| text.contains("must be http(s)://host:port")));
        assert!(wrong.body.contains("value=\"10.0.0.3 &#60;b&#62;\""), "what was typed stays");
        let address = "http://10.0.0.3:9999";
        let entered = enter(address).await;
        assert_eq!((entered.status, entered.location()), (303, page.as_str()));
        assert_eq!(enter(address).await.error("address"), Some("http://10.0.0.3:9999 was entered already"));
        assert!(admin.get(&page).await.body.contains(&format!("data-key=\"{address}\"")));
        let list = admin.get("/apps").await.body;
        assert!(list.contains("entered by hand") && list.contains("data-state=\"online\""), "{list}");

        let executor = format!("{page}/executor");
        let settings = format!("{executor}?address=http%3A%2F%2F10.0.0.3%3A9999%2F");
        assert!(admin.get(&settings).await.body.contains("Draining keeps new runs away"));
        let drained = admin.submit(&format!("{executor}/drain"), &[("address", address), ("draining", "yes")]).await;
        assert_eq!((drained.status, drained.location()), (303, "/apps"));
        let list = admin.get("/apps").await.body;
        assert!(list.contains("data-state=\"draining\"") && list.contains("1 online, 1 draining"), "{list}");
        assert!(admin.get(&settings).await.body.contains("No run is under way there."));
        admin.submit(&format!("{executor}/drain"), &[("address", address), ("draining", "no")]).await;
        assert!(!admin.get("/apps").await.body.contains("data-state=\"draining\""));
        let removed = admin.submit(&format!("{executor}/remove"), &[("address", address)]).await;
        assert_eq!((removed.status, removed.location()), (303, "/apps"));
        assert_eq!(admin.get(&settings).await.status, 404);
        assert!(admin.get(&page).await.body.contains("data-testid=\"no-addresses\""));
    });
}

#[test]
fn an_app_is_renamed_and_deleted_on_its_page() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let app = console.store.apps().by_name("orders").await.unwrap().unwrap();
        let page = format!("/apps/{}", app.id);
        let save = async |name: &str, title: &str| admin.submit(&page, &[("name", name), ("title", title)]).await;
        let wrong = save("no", "Sales <b>").await;
        assert_eq!(wrong.status, 422);
        assert!(wrong.error("name").is_some() && wrong.body.contains("value=\"Sales &#60;b&#62;\""), "{}", wrong.body);
        assert_eq!(save("sales", "Sales").await.location(), page);
        let shown = admin.get(&page).await.body;
        assert!(shown.contains("data-testid=\"former-names\"") && shown.contains("<code>orders</code>"), "{shown}");
        assert_eq!(admin.submit("/apps", &[("name", "orders")]).await.status, 422, "it is still taken");
        admin.submit(&format!("{page}/former-names/remove"), &[("name", "orders")]).await;
        assert!(!admin.get(&page).await.body.contains("data-testid=\"former-names\""));
        let question = admin.get(&format!("{page}/delete")).await.body;
        assert!(question.contains("Delete the app</button>"), "{question}");
        let deleted = admin.submit(&format!("{page}/delete"), &[]).await;
        assert_eq!((deleted.status, deleted.location()), (303, "/apps"));
        assert_eq!(admin.get(&page).await.status, 404);
    });
}

#[test]
fn an_app_with_a_job_is_not_deleted() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let job = console.job(|_| ()).await;
        let path = format!("/apps/{}/delete", job.app_id);
        let question = admin.get(&path).await.body;
        assert!(question.contains("1 job</a>") && !question.contains("Delete the app</button>"), "{question}");
        let refused = admin.submit(&path, &[]).await;
        assert_eq!((refused.status, refused.location()), (303, path.as_str()));
    });
}

#[test]
fn a_run_shows_how_its_executor_was_chosen() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|_| ()).await;
        let admin = console.admin().await;
        let run = admin.submit(&format!("/jobs/{}/run", job.id), &[("key", "k")]).await;
        let run = run.location().to_owned();
        assert!(!admin.get(&run).await.body.contains("data-testid=\"choice\""));
        let id: i64 = run.rsplit('/').next().unwrap().parse().unwrap();
        let store = &console.store;
        store.runs().persist_candidates(&[(5, r#"["http://a:1/","http://b:1/"]"#.into())], START).await.unwrap();
        let mark = carillon_store::run::mark::MarkRequest {
            run_id: id,
            epoch: 0,
            address: "http://b:1/",
            boot_id: None,
            journal_id: None,
            candidates_id: 5,
            route_code: 0,
            revision: 1,
            app_id: job.app_id,
        };
        assert_eq!(store.runs().mark(&[mark], 1, "a", START).await.unwrap().len(), 1);
        let story = r#"{"skipped":[{"address":"http://a:1/","what":"saturated <b>"}]}"#;
        store.runs().add_traces(&[(id, story.into())]).await.unwrap();
        let page = admin.get(&run).await.body;
        assert!(page.contains("next in order: one before it was passed over"));
        assert!(page.contains("Round robin, of 2"));
        assert!(page.contains("saturated &#60;b&#62;") && page.contains("<strong>chosen</strong>"), "{page}");
    });
}

// covers: A4
#[test]
fn an_executor_with_a_wrong_token_is_seen_until_it_has_the_right_one() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        assert!(!admin.get("/apps").await.body.contains("data-testid=\"refused\""));
        let registration = serde_json::json!({
            "registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": "http://127.0.0.1:9999/",
        });
        let register = async |token: &str, app: &str| {
            let call = reqwest::Client::new().post(format!("{}/api/registry", console.url));
            let call = call.header("XXL-JOB-ACCESS-TOKEN", token);
            let call = call.header("XXL-JOB-APPNAME", app).json(&registration);
            call.send().await.unwrap().text().await.unwrap()
        };
        register("wrong", "orders").await;
        let said = register("wrong", "orders").await;
        assert!(said.contains("The access token is wrong."), "{said}");
        let page = admin.get("/apps").await.body;
        let line = "This node refused an executor of app <code>orders</code> at <code>127.0.0.1</code>, last ";
        assert!(page.contains(line) && page.contains("(2 requests)"), "{page}");
        register("wrong", "<b>").await;
        let page = admin.get("/apps").await.body;
        assert!(page.contains("&#60;b&#62;") && !page.contains("<code><b>"));

        let said = register(&console.config.access_token, "orders").await;
        assert!(said.contains("\"code\":200"), "{said}");
        assert!(!admin.get("/apps").await.body.contains(line));
    });
}

// covers: V12.3
#[test]
fn the_character_nul_is_named_and_never_reaches_the_database() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|_| ()).await;
        let admin = console.admin().await;
        for path in ["/jobs?text=a%00b", "/runs?app=%00", "/apps/new?name=%00"] {
            let answer = admin.get(path).await;
            assert_eq!(answer.status, 400, "{path}");
            assert!(answer.body.contains("the character NUL"), "{path}");
        }
        let visitor = console.visitor();
        assert_eq!(visitor.sign_in("admin\0", "x").await.status, 400);
        let long = "x".repeat(17 << 10);
        assert_eq!(visitor.sign_in("admin", &long).await.status, 413, "read to 16 KiB");
        let path = format!("/jobs/{}/run", job.id);
        let nul = admin.submit(&path, &[("key", "k"), ("params", "a\0b")]).await;
        assert_eq!(nul.status, 422);
        assert_eq!(nul.error("params"), Some("must not contain the character NUL"));
        let long = "k".repeat(300);
        let long = admin.submit(&path, &[("key", &*long), ("params", "")]).await;
        assert_eq!(long.status, 400);
        let other = admin.submit(&path, &[("key", "k"), ("address", "\0")]).await;
        assert_eq!(other.status, 400);
    });
}

// covers: A11
#[test]
fn an_executor_that_refuses_connections_is_not_called_online() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        register(&console, "http://127.0.0.1:1/", "orders").await;
        console.job(|_| ()).await;
        let says = async |text: &str| admin.get("/apps").await.body.contains(text);
        assert!(!says("this node cannot reach it").await, "it was not tried yet");
        let services = &console.engine.services;
        services.coordinator.step().await;
        services.refresher.step().await;
        let key = admin.get("/jobs/1/run").await.hidden("key");
        assert_eq!(admin.submit("/jobs/1/run", &[("key", &key)]).await.status, 303);
        for scan in services.scanners.all() {
            scan.step().await;
        }
        services.dispatcher.step().await;
        wait_for("its state is another one", async || says("registers, but this node cannot reach it").await).await;
    });
}

#[test]
fn declared_jobs_are_shown_with_their_differences_and_applied_from_then_on() {
    run(async {
        let console = Console::start().await;
        let admin = console.admin().await;
        let app = console.store.apps().by_name("orders").await.unwrap().unwrap();
        let page = format!("/apps/{}/declarations", app.id);
        assert!(admin.get("/apps").await.body.contains(&format!("href=\"{page}\"")));
        assert!(admin.get(&page).await.body.contains("data-testid=\"empty\""));
        let job = console.job(|draft| draft.key = "close-day".into()).await;
        let row = DeclaredJob {
            job_key: "close-day".to_owned(),
            was: String::new(),
            job_id: Some(job.id),
            state: DeclaredState::Overridden,
            build: "billing 4.2.1".to_owned(),
            policy: "enforce".to_owned(),
            place: "src/<jobs>.rs:12".to_owned(),
            code: r#"{"handler":"close-day","retries":2}"#.to_owned(),
            base: "{}".to_owned(),
            report: r#"[{"member":"retries","code":2,"here":5,"since":1}]"#.to_owned(),
            problem: String::new(),
            changed_at: START,
            orphan_at: None,
        };
        console.store.declarations().write_job(app.id, "close-day", &row).await.unwrap();
        let body = admin.get(&page).await.body;
        assert!(body.contains("data-key=\"close-day\" data-state=\"overridden\""), "{body}");
        assert!(body.contains("billing 4.2.1") && body.contains("src/&#60;jobs&#62;.rs:12"));
        assert!(body.contains("retries: code 2, here 5") && body.contains("data-testid=\"apply-form\""));
        let saved = admin.submit(&page, &[("setting", "apply")]).await;
        assert_eq!((saved.status, saved.location()), (303, page.as_str()));
        assert!(!admin.get(&page).await.body.contains("data-testid=\"apply-form\""));
        let app = console.store.apps().get(app.id).await.unwrap().unwrap();
        assert_eq!(app.declarations, DeclarationSetting::Apply);
        let body = admin.get(&format!("/jobs/{}", job.id)).await.body;
        assert!(body.contains("Declared in billing 4.2.1") && body.contains("overridden here"), "{body}");
        let applied = DeclaredJob { state: DeclaredState::Applied, ..row };
        console.store.declarations().write_job(app.id, "close-day", &applied).await.unwrap();
        let body = admin.get(&format!("/jobs/{}/edit", job.id)).await.body;
        assert!(body.contains("The program enforces these members") && body.contains("handler, retries"));
    });
}
