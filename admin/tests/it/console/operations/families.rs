//! Parents and children, and who is behind a run.

use carillon_accounts::people;
use carillon_accounts::secret::random_secret;
use carillon_scheduler::JobDraft;
use carillon_store::{Actor, Definition, GrantScope, Grants, Role};
use sea_orm::ConnectionTrait as _;

use crate::conformance::fixture::actor;
use crate::console::client::{Console, ConsoleClient, START};
use crate::console::run;

struct World {
    console: Console,
    child: i64,
    parent: i64,
}

impl World {
    /// A child of a job of its own app and of one of another app.
    async fn start() -> Self {
        let console = Console::start().await;
        let child = console.job(|job| job.name = "Child".into()).await.id;
        let parent = console.job(|job| (job.name, job.children) = ("Parent".into(), vec![child])).await.id;
        let app = console.store.apps().create("billing", "Billing", START, &actor()).await.unwrap();
        let mut draft = JobDraft::new("billing", "Secret", "h");
        draft.children = vec![child];
        let definition = Definition::check(&app, &draft, START).unwrap();
        console.store.jobs().create(vec![definition], START, &actor(), None).await.unwrap();
        Self { console, child, parent }
    }

    async fn write(&self, text: &str) {
        let raw = sea_orm::Database::connect(self.console.database_url()).await.unwrap();
        raw.execute_unprepared(text).await.unwrap();
    }

    /// As the success of this run has made it.
    async fn child_run(&self, id: i64, of: i64) {
        self.write(&format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends) \
             SELECT {id}, id, app_id, shard, 3, {of}, 0, 1, 1, {START}, {START}, 9, 1, 1 FROM job WHERE id = {}",
            self.child
        ))
        .await;
    }

    async fn run_by_hand(&self, visitor: &ConsoleClient, job: i64) -> i64 {
        let answer = visitor.submit(&format!("/jobs/{job}/run"), &[("key", &random_secret())]).await;
        answer.location().rsplit('/').next().unwrap().parse().unwrap()
    }

    async fn viewer(&self, role: Role) -> ConsoleClient {
        let app = self.console.store.apps().by_name("orders").await.unwrap().unwrap().id;
        let grants: Grants = [(GrantScope::App(app), role)].into_iter().collect();
        let password = random_secret();
        people::add(&self.console.store, "grace", &password, &grants, START, &Actor::engine()).await.unwrap();
        let visitor = self.console.visitor();
        assert_eq!(visitor.sign_in("grace", &password).await.status, 303);
        visitor
    }
}

fn part<'a>(page: &'a str, testid: &str) -> &'a str {
    let start = format!("data-testid=\"{testid}\"");
    page.split(&start).nth(1).unwrap_or_default().split("</section>").next().unwrap()
}

// covers: B5
#[test]
fn the_runs_of_parent_and_child_link_to_each_other() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let parent = world.run_by_hand(&admin, world.parent).await;
        world.child_run(900, parent).await;
        let page = admin.get(&format!("/runs/{parent}")).await.body;
        assert!(part(&page, "child-runs").contains("href=\"/runs/900\""), "{page}");
        let page = admin.get("/runs/900").await.body;
        let link = format!("href=\"/runs/{parent}\"");
        assert!(part(&page, "parent-run").contains(&link) && page.contains(">Parent</a>"), "{page}");
        assert!(!page.contains("data-testid=\"child-runs\""));
    });
}

#[test]
fn a_parent_of_another_app_is_named_as_such_and_not_shown() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let secret = world.run_by_hand(&admin, 3).await;
        world.child_run(900, secret).await;
        assert!(admin.get("/runs/900").await.body.contains(">Secret</a>"));
        let viewer = world.viewer(Role::Viewer).await;
        let page = viewer.get("/runs/900").await.body;
        let shown = part(&page, "parent-run").split("</dd>").next().unwrap();
        assert!(shown.contains("a run of a job of another app") && !shown.contains(&secret.to_string()), "{shown}");
        assert!(!page.contains("Secret"), "{page}");
        let page = viewer.get(&format!("/jobs/{}", world.child)).await.body;
        let shown = part(&page, "parents").split("</ul>").next().unwrap();
        assert!(shown.contains("Parent (orders #2)") && shown.contains("a job of another app"), "{shown}");
        assert!(!shown.contains("#3") && !page.contains("Secret"), "{page}");
    });
}

// covers: B15
#[test]
fn a_run_says_who_has_started_killed_and_resolved_it() {
    run(async {
        let world = World::start().await;
        let operator = world.viewer(Role::Operator).await;
        let admin = world.console.admin().await;
        let started = world.run_by_hand(&operator, world.parent).await;
        let path = format!("/runs/{started}");
        let page = admin.get(&path).await.body;
        assert!(part(&page, "cause").split("</dd>").next().unwrap().contains("by hand, by grace"), "{page}");
        admin.submit(&format!("{path}/kill"), &[]).await;
        let page = admin.get(&path).await.body;
        assert!(part(&page, "timeline").split("</ol>").next().unwrap().contains("by admin"), "{page}");
        let lost = world.run_by_hand(&admin, world.parent).await;
        world.write(&format!("UPDATE run SET state = 4 WHERE id = {lost}")).await;
        operator.submit(&format!("/runs/{lost}/resolve"), &[("outcome", "failed"), ("note", "seen")]).await;
        let page = admin.get(&format!("/runs/{lost}")).await.body;
        assert!(part(&page, "timeline").split("</ol>").next().unwrap().contains("resolved by grace"), "{page}");
    });
}

#[test]
fn a_run_keeps_the_name_of_its_deleted_job() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let id = world.run_by_hand(&admin, world.parent).await;
        admin.submit(&format!("/jobs/{}/delete", world.parent), &[]).await;
        for path in ["/runs".to_owned(), format!("/runs/{id}")] {
            assert!(admin.get(&path).await.body.contains("Parent (deleted, 2)"), "{path}");
        }
    });
}
