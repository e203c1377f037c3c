//! What a page promises before a button is pressed, compared with what the database holds afterwards.

mod backfill;
mod definitions;
mod pauses;
mod reruns;
mod resolve;
mod workflows;

use carillon_scheduler::{Cause, JobDraft, RunState};
use carillon_store::audit::list::AuditFilter;
use carillon_store::{Actor, Job, RunFilter, RunView, VisibleApps};

use super::chromium::{Browser, Kind};
use super::live::Live;

/// A node with the apps `orders` and `billing`, and a browser whose viewer is signed in.
struct Scene {
    live: Live,
    browser: Browser,
}

impl Scene {
    async fn start() -> Self {
        let live = Live::start().await;
        live.app("orders", "Orders").await;
        live.app("billing", "Billing").await;
        let browser = Browser::signed_in(&live, Kind::default()).await;
        Self { live, browser }
    }

    async fn job(&self, name: &str, handler: &str, change: impl FnOnce(&mut JobDraft)) -> Job {
        let mut draft = JobDraft::new("orders", name, handler);
        change(&mut draft);
        self.live.job(draft).await
    }

    async fn stored(&self, id: i64) -> Job {
        self.live.store.jobs().get(id).await.unwrap().unwrap()
    }

    /// Of a job, oldest first.
    async fn runs(&self, job_id: i64) -> Vec<RunView> {
        let filter = RunFilter { job_id: Some(job_id), limit: 100, ..RunFilter::default() };
        let mut runs = self.live.store.runs().list(&filter).await.unwrap().items;
        runs.reverse();
        runs
    }

    /// A run through the API that has ended.
    async fn ended_run(&self, job_id: i64, params: Option<&str>) -> RunView {
        let request = carillon_engine::manage::RunRequest {
            parts: None,
            job_id,
            cause: Cause::Api,
            params: params.map(str::to_owned),
            priority: None,
            address: None,
            idempotency_key: None,
        };
        let id = self.live.engine.jobs().run(request, &Actor::engine()).await.unwrap();
        self.ended(id).await
    }

    async fn ended(&self, id: i64) -> RunView {
        let is_over = async || !self.live.store.runs().get(id).await.unwrap().unwrap().state.is_open();
        self.browser.until("the end of the run", is_over).await;
        self.live.store.runs().get(id).await.unwrap().unwrap()
    }

    /// Runs of this daily job that wait: those of a backfill, while its app is paused.
    async fn waiting_runs(&self, job: &Job, count: i64) {
        let app_id = Some(job.app_id);
        let pause = carillon_engine::manage::PauseRequest { app_id, note: "hold".into(), ..Default::default() };
        let by = Actor::new("test", "", carillon_store::Grants::for_all(carillon_store::Role::Admin));
        self.live.engine.pauses().create(pause, &by).await.unwrap();
        let now = self.live.clock.now();
        let range = carillon_engine::manage::BackfillRange {
            job_id: job.id,
            from_at: now - count * 86_400_000,
            to_at: now - 1,
        };
        self.live.engine.backfills().create(range, count as i32, &by).await.unwrap();
        let are_there = async || self.runs(job.id).await.len() as i64 == count;
        self.browser.until("the runs of the backfill", are_there).await;
    }

    /// The texts of the elements.
    async fn texts(&self, css: &str) -> Vec<String> {
        let script = format!("return [...document.querySelectorAll({css:?})].map(it => it.innerText.trim())");
        serde_json::from_value(self.browser.script(&script).await).unwrap()
    }

    /// The value of a field.
    async fn value(&self, css: &str) -> String {
        let script = format!("return document.querySelector({css:?}).value");
        self.browser.script(&script).await.as_str().unwrap().to_owned()
    }

    /// The detail of the newest entry of the audit about an object.
    async fn newest_entry(&self, filter: AuditFilter) -> (String, serde_json::Value) {
        let filter = AuditFilter { apps: VisibleApps::All, ..filter };
        let entry = self.live.store.audit().list(&filter).await.unwrap().items.remove(0);
        (entry.action, serde_json::from_str(&entry.detail).unwrap())
    }

    /// Selects these rows of the list of jobs and asks for this action.
    async fn ask_for_jobs(&self, jobs: &[i64], action: &str) {
        self.browser.go("/jobs").await;
        for id in jobs {
            self.browser.press(&format!("input[name=id][value='{id}']")).await;
        }
        let choose = format!("document.querySelector('#bulk select[name=action]').value = {action:?}");
        self.browser.script(&choose).await;
        self.browser.press("#bulk button:not([type=button])").await;
        self.browser.find("[data-testid=bulk-form]").await;
    }

    async fn close(self) {
        self.browser.close().await;
    }
}

fn count_of(runs: &[RunView], state: RunState) -> usize {
    runs.iter().filter(|run| run.state == state).count()
}
