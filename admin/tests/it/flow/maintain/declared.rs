//! Jobs that programs declare: heartbeats, the three sides, deployments, rollbacks, orphans.

use std::collections::BTreeSet;
use std::time::Duration;

use carillon_declared::{Declarations, DeclaredJobView};
use carillon_scheduler::{Clock as _, HttpDraft, JobDraft, ScriptDraft, ScriptKind};
use carillon_store::app::declared::declarations::Declaration;
use carillon_store::audit::list::AuditFilter;
use carillon_store::{DeclarationSetting, DeclaredState, Job, PauseNote};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::conformance::fixture::actor;
use crate::flow::node::Node;

/// What a program declares: build, policy, members of the job `close-day`, other jobs.
struct Program {
    address: &'static str,
    body: String,
}

impl Program {
    fn new(address: &'static str, build: &str, policy: &str, members: Value) -> Self {
        let mut job =
            json!({"key": "close-day", "file": "src/jobs.rs", "line": 12, "members": {"handler": "close-day"}});
        job["members"].as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        Self::with_jobs(address, build, policy, &json!([job]))
    }

    fn with_jobs(address: &'static str, build: &str, policy: &str, jobs: &Value) -> Self {
        Self { address, body: json!({"build": build, "policy": policy, "jobs": jobs}).to_string() }
    }

    fn digest(&self) -> String {
        Sha256::digest(self.body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A node whose app applies declarations.
struct Declaring {
    node: Node,
    declarations: Declarations,
}

impl Declaring {
    async fn start(db: &crate::services::TestDatabase, setting: DeclarationSetting) -> Self {
        let node = Node::with_shards(db, 1).await;
        node.renew_leases().await;
        let declarations = Declarations::new(node.engine.clone());
        declarations.set(node.app.id, setting, &actor()).await.unwrap();
        Self { node, declarations }
    }

    /// A heartbeat. Whether the declaration was asked for; then it is sent.
    async fn beat(&self, program: &Program) -> bool {
        let registration =
            json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": program.address});
        let digest = program.digest();
        let headers = [("Carillon-Boot-Id", program.address), ("Carillon-Declared", digest.as_str())];
        let answer = self.node.post_with("api/registry", &headers, &registration).await;
        assert_eq!(answer["code"], 200, "{answer}");
        let is_asked = answer["content"] == "declare";
        if is_asked {
            let answer = self.declare("orders", &program.body).await;
            assert_eq!(answer["code"], 200, "{answer}");
        }
        is_asked
    }

    async fn declare(&self, app: &str, body: &str) -> Value {
        let call = self.node.http.post(format!("{}/api/declare", self.node.url));
        let call = call.header("XXL-JOB-ACCESS-TOKEN", &self.node.config.access_token);
        let call = call.header("XXL-JOB-APPNAME", app).body(body.to_owned());
        call.send().await.unwrap().json().await.unwrap()
    }

    async fn deregister(&self, program: &Program) {
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": program.address});
        let headers = [("Carillon-Boot-Id", program.address)];
        assert_eq!(self.node.post_with("api/registryRemove", &headers, &body).await["code"], 200);
    }

    /// A heartbeat and a round: how many jobs were written.
    async fn deploy(&self, program: &Program) -> usize {
        self.beat(program).await;
        self.round().await
    }

    async fn round(&self) -> usize {
        self.node.renew_leases().await;
        self.declarations.applier.round().await.unwrap()
    }

    /// The program lives for a quarter of an hour.
    async fn orphaned(&self, program: &Program) {
        self.deploy(program).await;
        for _ in 0..61 {
            self.node.clock.advance(Duration::from_secs(15));
            self.beat(program).await;
            self.node.renew_leases().await;
        }
        self.round().await;
    }

    async fn job(&self) -> Job {
        let id = self.node.store.jobs().id_with_key(self.node.app.id, "close-day").await.unwrap();
        self.node.engine.jobs().get(id.unwrap()).await.unwrap()
    }

    async fn edit(&self, change: impl FnOnce(&mut JobDraft)) {
        let job = self.job().await;
        let mut draft = job.draft.clone();
        change(&mut draft);
        self.node.engine.jobs().update(job.id, &draft, None, &actor()).await.unwrap();
    }

    /// State and retries after the code has said 2 and a person 5.
    async fn after_an_edit(&self, policy: &str) -> (DeclaredState, i32) {
        self.deploy(&Program::new(ONE, "1", policy, json!({"retries": 2}))).await;
        self.edit(|draft| (draft.retries, draft.owner) = (5, "Ada".into())).await;
        self.round().await;
        let draft = self.job().await.draft;
        assert_eq!(draft.owner, "Ada", "a member that the code does not name");
        (self.state().await, draft.retries)
    }

    async fn after_a_deletion(&self) -> (usize, DeclaredState) {
        let job = self.job().await;
        self.node.engine.jobs().delete(job.id, &actor()).await.unwrap();
        (self.round().await, self.state().await)
    }

    async fn declared(&self) -> Vec<DeclaredJobView> {
        let app = self.node.store.apps().by_name("orders").await.unwrap().unwrap();
        self.declarations.of_app(&app).await.unwrap().jobs
    }

    async fn state(&self) -> DeclaredState {
        self.declared().await.iter().find(|job| job.key == "close-day").unwrap().state
    }
}

const ONE: &str = "http://10.0.0.1:9999";
const TWO: &str = "http://10.0.0.2:9999";

databases! {
    // covers: 004-22
    async fn two_deployments_of_one_program_write_once(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let schedule = json!({"kind": "cron", "expression": "0 0 2 * * ?", "timezone": "Europe/Berlin"});
        let members = json!({"schedule": schedule, "retries": 2, "tags": ["b", "a"], "parts": 4});
        let first = Program::new(ONE, "billing 4.2.1", "adopt", members.clone());
        assert_eq!(all.deploy(&first).await, 1);
        let job = all.job().await;
        assert_eq!((&*job.draft.name, &*job.draft.handler, job.draft.retries), ("close-day", "close-day", 2));
        let entries = async || all.node.store.audit().list(&AuditFilter { limit: 1000, ..AuditFilter::default() }).await.unwrap().items;
        let made = entries().await;
        let by: Vec<_> = made.iter().map(|entry| (&*entry.actor, &*entry.source)).collect();
        assert!(by.contains(&("declared by build billing 4.2.1", ONE)), "{by:?}");
        let second = Program::new(TWO, "billing 4.2.1", "adopt", members);
        assert!(!all.beat(&second).await, "the declaration is there already");
        all.node.clock.advance(Duration::from_secs(10));
        assert_eq!((all.round().await, all.round().await), (0, 0));
        assert_eq!(all.job().await.revision, job.revision);
        assert_eq!((entries().await.len(), all.declared().await.len()), (made.len(), 1));
    }

    async fn under_the_setting_report_nothing_is_made_until_a_person_applies(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Report).await;
        let program = Program::new(ONE, "billing 1", "enforce", json!({"retries": 2}));
        assert_eq!(all.deploy(&program).await, 0);
        assert_eq!(all.state().await, DeclaredState::Pending);
        all.declarations.set(all.node.app.id, DeclarationSetting::Apply, &actor()).await.unwrap();
        assert_eq!(all.round().await, 1);
        assert_eq!((all.state().await, all.job().await.draft.retries), (DeclaredState::Applied, 2));
    }

    async fn under_the_setting_off_no_executor_is_asked(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Off).await;
        let program = Program::new(ONE, "billing 1", "adopt", json!({}));
        assert!(!all.beat(&program).await);
        let answer = all.declare("orders", &program.body).await;
        assert_eq!(answer["msg"], "the app orders takes no declarations; its setting is off");
    }

    async fn a_program_that_warns_changes_nothing_that_was_changed_here(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        assert_eq!(all.after_an_edit("warn").await, (DeclaredState::Drift, 5));
        assert_eq!(all.after_a_deletion().await, (0, DeclaredState::Deleted));
    }

    async fn a_program_that_adopts_leaves_what_was_changed_here(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        assert_eq!(all.after_an_edit("adopt").await, (DeclaredState::Overridden, 5));
        assert_eq!(all.after_a_deletion().await, (0, DeclaredState::Deleted));
    }

    async fn a_program_that_enforces_writes_its_members_back(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        assert_eq!(all.after_an_edit("enforce").await, (DeclaredState::Applied, 2));
        assert_eq!(all.after_a_deletion().await, (1, DeclaredState::Applied));
    }

    async fn a_job_that_was_made_here_is_taken_over_by_policy(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let twin = all.node.job(|draft| {
            (draft.name, draft.handler, draft.retries) = ("Close".into(), "close-day".into(), 7);
        });
        let twin = twin.await;
        let members = json!({"name": "Close", "retries": 2});
        all.deploy(&Program::new(ONE, "1", "warn", members.clone())).await;
        assert_eq!(all.state().await, DeclaredState::Twin);
        all.node.clock.advance(Duration::from_secs(1));
        all.deploy(&Program::new(ONE, "2", "adopt", members.clone())).await;
        let job = all.job().await;
        assert_eq!((job.id, job.draft.retries, all.state().await), (twin.id, 7, DeclaredState::Overridden));
        all.node.clock.advance(Duration::from_secs(1));
        all.deploy(&Program::new(ONE, "3", "enforce", members)).await;
        assert_eq!((all.job().await.draft.retries, all.state().await), (2, DeclaredState::Applied));
    }

    async fn a_rolling_deployment_switches_once_and_a_rollback_back(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let old = Program::new(ONE, "1", "adopt", json!({"retries": 1}));
        let new = Program::new(TWO, "2", "adopt", json!({"retries": 2}));
        all.deploy(&old).await;
        all.node.clock.advance(Duration::from_secs(5));
        let mut written = all.deploy(&new).await;
        for _ in 0..10 {
            all.node.clock.advance(Duration::from_secs(3));
            all.beat(&old).await;
            written += all.deploy(&new).await;
        }
        assert_eq!((written, all.job().await.draft.retries), (1, 2), "one switch");
        all.deregister(&new).await;
        assert_eq!((all.deploy(&old).await, all.job().await.draft.retries), (1, 1), "a rollback");
        assert!(!all.beat(&new).await, "it is still known");
    }

    async fn an_orphan_is_paused_where_it_is_enforced_and_never_deleted(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        all.deploy(&Program::new(ONE, "1", "enforce", json!({"retries": 1}))).await;
        let other = json!([{"key": "other", "file": "src/jobs.rs", "line": 1, "members": {"handler": "other"}}]);
        let without = Program::with_jobs(ONE, "2", "enforce", &other);
        all.node.clock.advance(Duration::from_secs(1));
        all.deploy(&without).await;
        assert_eq!((all.state().await, all.job().await.draft.enabled), (DeclaredState::Orphan, true));
        all.orphaned(&without).await;
        let job = all.job().await;
        assert_eq!(job.pause.as_ref().map(|pause| &*pause.note), Some("no longer declared by build 2"));
        all.node.engine.jobs().resume(job.id, &actor()).await.unwrap();
        all.round().await;
        assert!(all.job().await.draft.enabled, "a person has decided");
    }

    async fn a_renamed_job_keeps_its_row_also_when_the_build_is_taken_back(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let named = |key: &str, was: Value| {
            json!([{"key": key, "was": was, "file": "src/jobs.rs", "line": 1, "members": {"handler": key}}])
        };
        let old = Program::with_jobs(ONE, "1", "adopt", &named("close", Value::Null));
        let new = Program::with_jobs(TWO, "2", "adopt", &named("close-day", json!("close")));
        all.deploy(&old).await;
        let id = all.node.store.jobs().id_with_key(all.node.app.id, "close").await.unwrap();
        all.node.clock.advance(Duration::from_secs(1));
        all.deploy(&new).await;
        assert_eq!(Some(all.job().await.id), id);
        assert_eq!(all.job().await.draft.handler, "close-day");
        all.deregister(&new).await;
        all.deploy(&old).await;
        assert_eq!(all.node.store.jobs().id_with_key(all.node.app.id, "close").await.unwrap(), id);
        assert_eq!(all.declared().await.len(), 1);
    }

    async fn children_and_workflows_name_keys(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let jobs = json!([
            {"key": "import", "file": "a.rs", "line": 1, "members": {"handler": "import", "children": ["report"]}},
            {"key": "report", "file": "a.rs", "line": 2, "members": {"handler": "report"}},
            {"key": "close-day", "file": "a.rs", "line": 3, "members": {"workflow": {"nodes": {
                "first": {"job": "import"}, "second": {"job": "report", "after": ["first"]}}}}},
        ]);
        let program = Program::with_jobs(ONE, "1", "enforce", &jobs);
        assert_eq!(all.deploy(&program).await, 3, "{:?}", all.declared().await);
        let id = async |key: &str| all.node.store.jobs().id_with_key(all.node.app.id, key).await.unwrap().unwrap();
        let import = all.node.engine.jobs().get(id("import").await).await.unwrap();
        assert_eq!(import.draft.children, [id("report").await]);
        assert_eq!(all.job().await.draft.workflow.unwrap().nodes.len(), 2);
        assert_eq!(all.round().await, 0);
    }

    async fn what_one_app_declares_does_not_hold_up_the_others(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let other = all.node.store.apps().create("zulu", "Zulu", all.node.clock.now(), &actor()).await.unwrap();
        all.declarations.set(other.id, DeclarationSetting::Apply, &actor()).await.unwrap();
        let nul = Program::new(ONE, "1", "adopt", json!({"children": ["\u{0}"]}));
        let answer = all.declare("orders", &nul.body).await["msg"].to_string();
        assert!(answer.contains("job close-day: a job that it starts: key "), "{answer}");
        let declarations = all.node.store.declarations();
        // As if a version without that check had stored it.
        let stored = |program: &Program| Declaration {
            digest: program.digest(),
            build: "1".to_owned(),
            first_seen_at: all.node.clock.now(),
            problem: String::new(),
        };
        let nul = Program::new(ONE, "2", "adopt", json!({"children": ["\u{0}"]}));
        declarations.add(&all.node.app, &stored(&nul), &nul.body).await.unwrap();
        all.beat(&nul).await;
        let good = Program::new(TWO, "1", "adopt", json!({}));
        declarations.add(&other, &stored(&good), &good.body).await.unwrap();
        let body = json!({"registryGroup": "EXECUTOR", "registryKey": "zulu", "registryValue": TWO});
        let digest = good.digest();
        let headers = [("Carillon-Boot-Id", TWO), ("Carillon-Declared", digest.as_str())];
        assert_eq!(all.node.post_with("api/registry", &headers, &body).await["code"], 200);
        assert_eq!(all.round().await, 1, "{:?}", all.declared().await);
        assert_eq!(all.state().await, DeclaredState::Failed);
    }

    async fn code_has_no_part_in_jobs_with_a_script_or_a_request(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let script = ScriptDraft::new(ScriptKind::Shell, "rm -rf $1", "first version");
        let cleanup = all.node.job(|draft| {
            (draft.key, draft.script, draft.handler) = ("cleanup".into(), Some(script), String::new());
        });
        let cleanup = cleanup.await;
        let pay = all.node.job(|draft| {
            (draft.key, draft.handler) = ("pay".into(), String::new());
            draft.http = Some(HttpDraft::new("https://pay.example.com/{{params}}"));
        });
        let pay = pay.await;
        let job = |key: &str, members: Value| json!({"key": key, "file": "a.rs", "line": 1, "members": members});
        let jobs = json!([
            job("cleanup", json!({"params": "/"})),
            job("pay", json!({"params": "to me"})),
            job("takes", json!({"handler": "takes", "children": ["pay"]})),
            job("runs", json!({"workflow": {"nodes": {"x": {"job": "cleanup", "params": "/"}}}})),
        ]);
        assert_eq!(all.deploy(&Program::with_jobs(ONE, "1", "enforce", &jobs)).await, 0);
        for declared in all.declared().await {
            assert_eq!(declared.state, DeclaredState::Failed, "{}", declared.key);
            assert!(declared.problem.ends_with("so code can neither declare nor start it"), "{}", declared.problem);
        }
        for job in [cleanup, pay] {
            assert_eq!(all.node.engine.jobs().get(job.id).await.unwrap().revision, job.revision);
        }
    }

    async fn a_member_that_the_code_names_no_more_goes_back_unless_it_was_changed_here(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let schedule = json!({"kind": "cron", "expression": "0 0 2 * * ?", "timezone": "UTC"});
        all.deploy(&Program::new(ONE, "1", "adopt", json!({"schedule": schedule, "retries": 2, "priority": 60}))).await;
        all.edit(|draft| draft.retries = 5).await;
        all.round().await;
        all.node.clock.advance(Duration::from_secs(1));
        // Under the setting report it is to be written, and no round forgets it.
        all.declarations.set(all.node.app.id, DeclarationSetting::Report, &actor()).await.unwrap();
        let without = Program::new(ONE, "2", "adopt", json!({}));
        assert_eq!((all.deploy(&without).await, all.state().await), (0, DeclaredState::Pending));
        all.node.clock.advance(Duration::from_secs(700));
        all.beat(&without).await;
        all.round().await;
        let findings = all.declared().await[0].findings.clone();
        let members: BTreeSet<&str> = findings.iter().map(|it| &*it.member).collect();
        assert_eq!(members, ["priority", "schedule"].into());
        all.declarations.set(all.node.app.id, DeclarationSetting::Apply, &actor()).await.unwrap();
        assert_eq!((all.round().await, all.state().await), (1, DeclaredState::Applied));
        let draft = all.job().await.draft;
        assert_eq!((&serde_json::to_value(&draft.schedule).unwrap()["kind"], draft.priority), (&json!("none"), 0));
        assert_eq!(draft.retries, 5, "a person's value");
        assert_eq!(all.round().await, 0);
    }

    async fn an_orphan_that_was_paused_goes_on_when_its_key_is_back(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let program = Program::new(ONE, "orders 1", "enforce", json!({}));
        all.deploy(&program).await;
        let other = json!([{"key": "other", "file": "src/jobs.rs", "line": 1, "members": {"handler": "other"}}]);
        all.orphaned(&Program::with_jobs(ONE, "orders 2", "enforce", &other)).await;
        assert!(!all.job().await.draft.enabled);
        all.node.clock.advance(Duration::from_secs(1));
        assert_eq!(all.deploy(&Program::new(ONE, "orders 3", "enforce", json!({}))).await, 1);
        assert!(all.job().await.draft.enabled, "its key is back");
        // What a person has paused stays so.
        all.orphaned(&Program::with_jobs(ONE, "orders 4", "enforce", &other)).await;
        let note = PauseNote { note: "by me".to_owned(), ends_at: None };
        all.node.engine.jobs().pause(all.job().await.id, note, &actor()).await.unwrap();
        all.node.clock.advance(Duration::from_secs(1));
        all.deploy(&Program::new(ONE, "orders 5", "enforce", json!({}))).await;
        assert!(!all.job().await.draft.enabled);
    }

    async fn another_program_pauses_no_orphan_and_no_job_of_files_is_one(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let other = |build: &str| {
            let other = json!([{"key": "other", "file": "src/jobs.rs", "line": 1, "members": {"handler": "other"}}]);
            Program::with_jobs(TWO, build, "enforce", &other)
        };
        // The policy of another program, and then another program with the same policy.
        for policy in ["adopt", "enforce"] {
            let program = Program::new(ONE, "batch 1", policy, json!({}));
            all.deploy(&program).await;
            all.deregister(&program).await;
            all.node.clock.advance(Duration::from_secs(1));
            all.orphaned(&other(&format!("api {policy}"))).await;
            assert_eq!((all.state().await, all.job().await.draft.enabled), (DeclaredState::Orphan, true));
            all.deregister(&other(&format!("api {policy}"))).await;
            all.node.clock.advance(Duration::from_secs(1));
        }
        all.deploy(&Program::new(ONE, "api 3", "enforce", json!({}))).await;
        all.edit(|draft| draft.set = "ops".into()).await;
        all.node.clock.advance(Duration::from_secs(1));
        all.orphaned(&other("api 4")).await;
        assert!(all.job().await.draft.enabled);
        assert!(all.declared().await.iter().all(|job| job.key != "close-day"), "it is not of the code any more");
    }

    async fn a_job_that_was_made_again_by_hand_is_taken_over(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        all.deploy(&Program::new(ONE, "1", "adopt", json!({}))).await;
        assert_eq!(all.after_a_deletion().await, (0, DeclaredState::Deleted));
        let again = all.node.job(|draft| (draft.key, draft.handler) = ("close-day".into(), "close-day".into())).await;
        all.round().await;
        assert_eq!((all.state().await, all.declared().await[0].job_id), (DeclaredState::Applied, Some(again.id)));
    }

    async fn a_refused_declaration_is_shown_and_the_one_before_counts(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        all.deploy(&Program::new(ONE, "1", "adopt", json!({"retries": 2}))).await;
        all.node.clock.advance(Duration::from_secs(1));
        let refused = Program::new(TWO, "2", "adopt", json!({"colour": "red"}));
        let answer = all.declare("orders", &refused.body).await["msg"].as_str().unwrap_or_default().to_owned();
        assert_eq!(answer, "job close-day: `colour` cannot be declared");
        assert!(!all.beat(&refused).await, "it is not asked for again and again");
        let live = all.declarations.of_app(&all.node.app).await.unwrap().live;
        let shown: Vec<(&str, &str)> = live.iter().map(|it| (&*it.build, &*it.problem)).collect();
        assert_eq!(shown, [("2", answer.as_str()), ("1", "")]);
        assert_eq!((all.round().await, all.state().await), (0, DeclaredState::Applied));
    }

    async fn an_app_has_a_rate_of_declarations(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Report).await;
        for build in 0..10 {
            let program = Program::new(ONE, &build.to_string(), "adopt", json!({}));
            assert_eq!(all.declare("orders", &program.body).await["code"], 200);
        }
        let answer = all.declare("orders", &Program::new(ONE, "10", "adopt", json!({})).body).await;
        assert_eq!(answer["msg"], "the app orders has more than 1 declaration a second; try again in 1 s");
    }

    async fn what_code_must_not_declare_is_refused(db: &TestDatabase) {
        let all = Declaring::start(db, DeclarationSetting::Apply).await;
        let refused = async |members: Value| {
            let program = Program::new(ONE, "1", "enforce", members);
            all.declare("orders", &program.body).await["msg"].as_str().unwrap_or_default().to_owned()
        };
        for member in ["script", "http", "enabled", "set", "app"] {
            assert_eq!(refused(json!({member: "x"})).await, format!("job close-day: `{member}` cannot be declared"));
        }
        assert!(all.declare("nowhere", r#"{"build":"1","jobs":[]}"#).await["msg"].as_str().unwrap().contains("no app"));
        assert!(all.declare("orders", "[]").await["msg"].as_str().unwrap().contains("cannot be read"));
        // What the server refuses is shown, and nothing is taken for gone meanwhile.
        all.deploy(&Program::new(ONE, "1", "adopt", json!({"retries": 1000}))).await;
        let declared = all.declared().await;
        assert_eq!(declared[0].state, DeclaredState::Failed);
        assert!(declared[0].problem.starts_with("retries: "), "{}", declared[0].problem);
    }
}
