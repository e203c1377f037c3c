//! Lists, counts and forms hold what is of the own apps and nothing of others.

use carillon_admin::web::RouteEntry;
use carillon_scheduler::JobDraft;
use carillon_store::{Actor, Grants, Role};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::callers::{account, session, token, unknown_token};
use super::world::{NOW, World};
use crate::browser::pages::lists;
use crate::services::{Kind, TestDatabase, on};

pub(super) struct Member {
    pub world: World,
    client: Client,
    account: i64,
    token: String,
}

impl Member {
    /// An account with this role for the own app.
    pub async fn start(db: &TestDatabase, role: Role) -> Self {
        let world = World::start(db).await;
        let grants = Grants::for_app(world.own.app.id, role);
        let account = account(&world, "ada", &grants).await;
        let token = token(&world, account, &grants, &grants).await;
        Self { world, client: Client::new(), account, token }
    }

    /// The same account with another role for the own app.
    async fn with_role(self, role: Role) -> Self {
        let grants = Grants::for_app(self.world.own.app.id, role);
        self.world.store.people().set_grants(self.account, &grants, NOW, &Actor::engine()).await.unwrap();
        self
    }

    pub async fn api(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let call = self.client.request(method, format!("{}/api/v1{path}", self.world.urls[1])).bearer_auth(&self.token);
        let call = match body {
            Some(body) => call.json(&body),
            None => call,
        };
        let answer = call.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    pub async fn page(&self, path: &str) -> String {
        let (cookie, _) = session(&self.world, self.account).await;
        let call = self.client.get(format!("{}{path}", self.world.urls[0])).header("Cookie", cookie);
        let answer = call.send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.text().await.unwrap()
    }
}

// covers: S13
#[test]
fn lists_of_the_api_hold_the_own_app_alone() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let member = Member::start(db, Role::Viewer).await;
        for (path, count) in [("/apps", 1), ("/jobs", 1), ("/runs", 1), ("/alarms", 0), ("/misfires", 0)] {
            let (status, list) = member.api(Method::GET, path, None).await;
            assert_eq!(status, 200, "{path}");
            assert_eq!(list["items"].as_array().unwrap().len(), count, "{path}: {list}");
            assert!(!list.to_string().contains("app-other"), "{path}");
        }
        for path in ["/jobs?app=app-other", "/runs?app=app-other"] {
            let (status, other) = member.api(Method::GET, path, None).await;
            let (_, missing) = member.api(Method::GET, &path.replace("app-other", "app-gone1"), None).await;
            let as_missing = missing.to_string().replace("app-gone1", "app-other");
            assert_eq!((status, other.to_string()), (400, as_missing), "{path}");
        }
        let of_other = format!("/runs?job_id={}", member.world.other.job);
        assert_eq!(member.api(Method::GET, &of_other, None).await.1["items"], json!([]));
        assert!(!member.api(Method::GET, "/forecast", None).await.1.to_string().contains("app-other"));
    });
}

// covers: S13
#[test]
fn pages_show_the_own_app_alone_and_what_the_role_allows() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let viewer = Member::start(db, Role::Viewer).await;
        let own_job = format!("/jobs/{}", viewer.world.own.job);
        let own_run = format!("/runs/{}", viewer.world.own.run);
        let (explain, backfill) = (format!("{own_job}/explain"), format!("{own_job}/backfill"));
        // A search for nothing leads to the list of jobs.
        let is_shown =
            |route: &RouteEntry| ["view any app", "view shared"].contains(&&*route.access) && route.path != "/search";
        let lists = lists(is_shown);
        let others = ["/reports?group=job", "/jobs/names?app=app-other", &own_job, &own_run, &explain, &backfill];
        for path in lists.iter().map(String::as_str).chain(others) {
            let page = viewer.page(path).await;
            assert!(!page.contains("app-other"), "{path} shows another app");
            for action in [
                "/enable",
                "/edit",
                "/copy",
                "/delete",
                "/run\"",
                "/kill",
                "/jobs/new",
                "/apps/new",
                "/users",
                "/audit",
                "/calendars/new",
                "/nodes",
            ] {
                assert!(
                    !page.contains(&format!("{action}\"")) && !page.contains(&format!("action=\"{action}")),
                    "{path} offers {action}"
                );
            }
        }
        // Refusals are pages with the headers of all pages.
        for (path, status, title) in [
            ("/apps/new", 403, "Only an admin of all apps may do this"),
            (&format!("/jobs/{}", viewer.world.other.job), 404, "There is no such job"),
        ] {
            let (cookie, _) = session(&viewer.world, viewer.account).await;
            let call = viewer.client.get(format!("{}{path}", viewer.world.urls[0])).header("Cookie", cookie);
            let answer = call.send().await.unwrap();
            assert_eq!(answer.status(), status, "{path}");
            assert!(answer.headers().contains_key("content-security-policy"), "{path}");
            assert!(answer.text().await.unwrap().contains(title), "{path}");
        }
        let editor = viewer.with_role(Role::Editor).await;
        let page = editor.page(&format!("/jobs/{}", editor.world.own.job)).await;
        for action in ["/enable\"", "/edit\"", "/copy\"", "/delete\"", "/run\""] {
            assert!(page.contains(action), "an editor is not offered {action}");
        }
        let form = editor.page("/jobs/new").await;
        assert!(form.contains("app-own") && !form.contains("app-other"));
    });
}

// covers: S12, S13
#[test]
fn a_job_moves_only_between_apps_of_which_the_actor_is_an_editor() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let editor = Member::start(db, Role::Editor).await;
        let (own, other) = (editor.world.own.clone(), editor.world.other.clone());
        let body = |app: &str| Some(json!({"app": app, "name": "moved", "handler": "h"}));
        let foreign = format!("/jobs/{}", other.job);
        assert_eq!(editor.api(Method::PUT, &foreign, body("app-own")).await.0, 404, "a job of another app");
        let (status, error) = editor.api(Method::PUT, &format!("/jobs/{}", own.job), body("app-other")).await;
        let (_, missing) = editor.api(Method::PUT, &format!("/jobs/{}", own.job), body("app-gone1")).await;
        assert_eq!(status, 400);
        let text = error["error"]["message"].as_str().unwrap().replace("app-other", "app-gone1");
        assert_eq!(missing["error"]["message"], text, "another app is as one that does not exist");
        for id in [own.job, other.job] {
            let job = editor.world.store.jobs().get(id).await.unwrap().unwrap();
            assert_eq!((job.draft.name.as_str(), job.revision), ("Close the day", 1));
        }
    });
}

// covers: S13
#[test]
fn a_job_of_another_app_cannot_be_named_as_child() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let editor = Member::start(db, Role::Editor).await;
        let body = |child: i64| json!({"app": "app-own", "name": "n", "handler": "h", "children": [child]});
        let (status, error) = editor.api(Method::POST, "/jobs", Some(body(editor.world.other.job))).await;
        assert_eq!((status, error["error"]["field"].as_str()), (400, Some("children")));
        let (_, missing) = editor.api(Method::POST, "/jobs", Some(body(77_777))).await;
        let text = error["error"]["message"].as_str().unwrap().replace(&editor.world.other.job.to_string(), "77777");
        assert_eq!(missing["error"]["message"], text);
        assert_eq!(editor.api(Method::POST, "/jobs", Some(body(editor.world.own.job))).await.0, 201);
        // One that an administrator has named may stay. Its app has to let the parent's app start its jobs.
        let world = &editor.world;
        let mut draft = JobDraft::new("app-own", "parent", "h");
        draft.children = vec![world.other.job];
        let refused = world.engine.jobs().create(draft, None, &Actor::engine()).await.unwrap_err();
        assert!(refused.to_string().contains("which does not let jobs of app app-own start its jobs"), "{refused}");
        world.engine.apps().set_starters(world.other.app.id, &["app-own".into()], &Actor::engine()).await.unwrap();
        let mut draft = JobDraft::new("app-own", "parent", "h");
        draft.children = vec![editor.world.other.job];
        let parent = editor.world.engine.jobs().create(draft, None, &Actor::engine()).await.unwrap();
        let kept = editor.api(Method::PUT, &format!("/jobs/{}", parent.id), Some(body(editor.world.other.job))).await;
        assert_eq!(kept.0, 200, "{}", kept.1);
    });
}

// covers: S11, W15
#[test]
fn a_key_of_another_account_is_another_key() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let editor = Member::start(db, Role::Editor).await;
        let draft = JobDraft::new("app-other", "secret", "h");
        editor.world.engine.jobs().create(draft, Some("the-key"), &Actor::engine()).await.unwrap();
        let call = editor.client.post(format!("{}/api/v1/jobs", editor.world.urls[0])).bearer_auth(&editor.token);
        let body = json!({"app": "app-own", "name": "n", "handler": "h"});
        let answer = call.header("Idempotency-Key", "the-key").json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        assert!(!answer.text().await.unwrap().contains("secret"));
    });
}

// covers: S9, S15
#[test]
fn a_token_counts_while_it_and_its_account_do() {
    on(Kind::Postgres, async |db: &TestDatabase| {
        let mut member = Member::start(db, Role::Editor).await;
        let (store, by) = (member.world.store.clone(), Actor::engine());
        let (id, now) = (member.account, NOW);
        let status = async |member: &Member| member.api(Method::GET, "/jobs", None).await.0;
        assert_eq!(status(&member).await, 200);
        let stored = store.people().tokens_of(id).await.unwrap().remove(0);
        assert_eq!((stored.used_at, stored.used_from.as_deref()), (Some(now), Some("127.0.0.1")));
        let own = Grants::for_app(member.world.own.app.id, Role::Viewer);
        store.people().set_grants(id, &own, now, &by).await.unwrap();
        let job = json!({"app": "app-own", "name": "n", "handler": "h"});
        let (refused, error) = member.api(Method::POST, "/jobs", Some(job)).await;
        assert_eq!((refused, error["error"]["code"].as_str()), (403, Some("forbidden")), "its account has less");
        store.people().set_account_enabled(id, false, now, &by).await.unwrap();
        assert_eq!(status(&member).await, 401, "its account is disabled");
        store.people().set_account_enabled(id, true, now, &by).await.unwrap();
        assert_eq!(status(&member).await, 401, "that has ended its tokens");
        assert!(!store.people().revoke_token(id, stored.id, now, &by).await.unwrap(), "there is none left");
        member.token = unknown_token();
        assert_eq!(status(&member).await, 401, "unknown");
    });
}
