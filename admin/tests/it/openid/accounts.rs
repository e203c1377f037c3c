//! The accounts of the provider's people: how they are made, what they may do, and what they may not have.

use carillon_accounts::setup::FIRST_ADMIN;
use carillon_scheduler::AuditAction;
use carillon_store::Actor;
use carillon_store::audit::list::AuditFilter;
use serde_json::json;

use super::{World, is_signed_in, run};
use crate::console::client::START;

// covers: S9
#[test]
fn a_person_gets_an_account_with_the_roles_of_the_groups() {
    run(async {
        let world = World::start().await;
        let visitor = world.console.visitor();
        assert!(visitor.get("/login?next=%2Fjobs").await.body.contains("Sign in with Example Login"));
        let answer = world.sign_in(&visitor).await;
        assert_eq!((answer.status, answer.location()), (303, "/jobs"));
        let account = world.console.store.people().account_by_name("ada").await.unwrap().unwrap();
        let app = world.console.store.apps().by_name("orders").await.unwrap().unwrap();
        assert_eq!(account.grants.to_string(), format!("{}:operator", app.id));
        assert_eq!(account.issuer.as_deref(), Some(&*world.fake.issuer));

        let page = visitor.get("/account").await;
        assert!(page.body.contains("You sign in by the OpenID provider"));
        assert!(!page.body.contains("data-testid=\"password-form\"") && !page.body.contains("second-factor"));
        let again = world.sign_in(&world.console.visitor()).await;
        assert_eq!(again.location(), "/jobs");
        assert_eq!(world.console.store.people().accounts().await.unwrap().len(), 2, "the same account");
    });
}

#[test]
fn the_groups_decide_at_each_sign_in() {
    run(async {
        let world = World::start().await;
        let (first, second) = (world.console.visitor(), world.console.visitor());
        world.sign_in(&first).await;
        world.fake.bend(|bent| bent.claims = json!({"groups": "ops", "preferred_username": "ada2"}));
        world.sign_in(&second).await;
        assert_eq!(first.get("/jobs").await.status, 303, "sessions with other roles end");
        assert_eq!(second.get("/users").await.status, 200);
        let account = world.console.store.people().account_by_name("ada").await.unwrap().unwrap();
        assert_eq!(account.grants.to_string(), "all:admin", "the account keeps its name");

        world.fake.bend(|bent| bent.claims = json!({"groups": ["unknown"]}));
        let third = world.console.visitor();
        let answer = world.sign_in(&third).await;
        assert_eq!(answer.status, 403);
        assert!(answer.body.contains("none of your groups there has a role here"), "{}", answer.body);
        assert!(!is_signed_in(&third));
        assert_eq!(second.get("/jobs").await.status, 303, "the roles are gone, and the sessions with them");
        let account = world.console.store.people().account_by_name("ada").await.unwrap().unwrap();
        assert!(account.grants.is_empty());
    });
}

#[test]
fn who_has_no_role_gets_no_account() {
    run(async {
        let world = World::start().await;
        for groups in [json!([]), json!("unknown"), json!(7), json!({"a": "ops"})] {
            world.fake.bend(|bent| bent.claims = json!({"groups": groups}));
            assert_eq!(world.sign_in(&world.console.visitor()).await.status, 403);
        }
        assert_eq!(world.console.store.people().accounts().await.unwrap().len(), 1);
    });
}

#[test]
fn what_the_token_does_not_hold_is_asked_for() {
    run(async {
        let world = World::start().await;
        world.fake.bend(|bent| {
            bent.claims = json!({"groups": null, "preferred_username": null});
            bent.user_info = json!({"groups": ["team-b"], "preferred_username": "grace"});
        });
        world.sign_in(&world.console.visitor()).await;
        let account = world.console.store.people().account_by_name("grace").await.unwrap().unwrap();
        assert!(account.grants.to_string().ends_with(":viewer"));
    });
}

#[test]
fn a_name_does_not_open_the_account_that_has_it() {
    run(async {
        let world = World::start().await;
        world.fake.bend(|bent| bent.claims = json!({"preferred_username": FIRST_ADMIN}));
        let visitor = world.console.visitor();
        world.sign_in(&visitor).await;
        assert_eq!(visitor.get("/users").await.status, 403, "an operator, not the administrator");
        let names: Vec<String> =
            world.console.store.people().accounts().await.unwrap().into_iter().map(|account| account.name).collect();
        assert!(names[1].starts_with("admin (") && names[1].len() == 16, "{names:?}");
        // Another person of the provider with the same name.
        world.fake.bend(|bent| bent.claims = json!({"preferred_username": FIRST_ADMIN, "sub": "subject-2"}));
        world.sign_in(&world.console.visitor()).await;
        assert_eq!(world.console.store.people().accounts().await.unwrap().len(), 3);
    });
}

#[test]
fn password_and_roles_are_the_providers_affair() {
    run(async {
        let world = World::start().await;
        world.sign_in(&world.console.visitor()).await;
        let id = world.console.store.people().account_by_name("ada").await.unwrap().unwrap().id;
        let admin = world.console.admin().await;
        let page = admin.get(&format!("/users/{id}")).await;
        assert!(page.body.contains("This account signs in by the OpenID provider"));
        assert!(!page.body.contains("Link for a new password") && !page.body.contains("Save the roles"));
        let refused = admin.submit(&format!("/users/{id}/reset"), &[]).await;
        assert_eq!(refused.status, 400, "{}", refused.body);
        let refused = admin.submit(&format!("/users/{id}/grants"), &[("grant_all", "admin")]).await;
        assert_eq!(refused.status, 422);
        let answer = world.console.visitor().sign_in("ada", "").await;
        assert_eq!(answer.status, 401, "no password fits");

        admin.submit(&format!("/users/{id}/disable"), &[]).await;
        let answer = world.sign_in(&world.console.visitor()).await;
        assert_eq!(answer.status, 403);
        assert!(answer.body.contains("Your account is disabled here."));
    });
}

#[test]
fn new_keys_of_the_provider_are_read_when_a_token_has_one() {
    run(async {
        let world = World::start().await;
        world.sign_in(&world.console.visitor()).await;
        world.sign_in(&world.console.visitor()).await;
        assert_eq!(world.fake.bent.lock().unwrap().keys_read, 1, "they are kept");
        world.console.clock.advance(std::time::Duration::from_secs(11));
        world.fake.bend(super::fake::Bent::rotate);
        assert_eq!(world.sign_in(&world.console.visitor()).await.location(), "/jobs");
        assert_eq!(world.fake.bent.lock().unwrap().keys_read, 2);
    });
}

#[test]
fn a_provider_that_is_down_stops_nothing_else() {
    run(async {
        let world = World::start().await;
        world.fake.bend(|bent| bent.is_down = true);
        let visitor = world.console.visitor();
        let answer = visitor.get("/login/openid").await;
        assert_eq!(answer.status, 503);
        assert!(answer.body.contains("Example Login cannot be reached now"));
        assert!(visitor.get("/login").await.body.contains("Example Login did not answer the last time"));
        world.console.admin().await;
        world.fake.bend(|bent| bent.is_down = false);
        assert_eq!(world.sign_in(&visitor).await.location(), "/jobs");
        assert!(!world.console.visitor().get("/login").await.body.contains("did not answer"));

        // Another's description is not taken for it.
        let world = World::start().await;
        world.fake.bend(|bent| bent.description = json!({"issuer": "https://other.example"}));
        assert_eq!(world.console.visitor().get("/login/openid").await.status, 503);
    });
}

#[test]
fn without_passwords_the_provider_and_a_link_of_the_command_line_sign_in() {
    run(async {
        let world = World::with(|config| config.has_passwords = false).await;
        let visitor = world.console.visitor();
        assert_eq!(visitor.get("/").await.location(), "/login", "nothing is to be set up");
        assert_eq!(visitor.get("/setup").await.status, 410);
        let page = visitor.get("/login").await;
        assert!(page.body.contains("Sign in with Example Login") && !page.body.contains("name=\"password\""));
        let answer = visitor.sign_in(FIRST_ADMIN, &world.console.password).await;
        assert_eq!(answer.status, 403);
        assert!(answer.body.contains("Passwords are switched off"));
        world.fake.bend(|bent| bent.claims = json!({"groups": ["ops"]}));
        world.sign_in(&visitor).await;
        assert_eq!(visitor.get("/users").await.status, 200);
    });
}

// covers: S37
#[test]
fn a_sign_in_by_the_provider_is_recorded_as_such_and_a_refused_one_names_its_account() {
    run(async {
        let world = World::start().await;
        world.sign_in(&world.console.visitor()).await;
        let id = world.console.store.people().account_by_name("ada").await.unwrap().unwrap().id;
        world.console.store.people().set_account_enabled(id, false, START, &Actor::engine()).await.unwrap();
        assert_eq!(world.sign_in(&world.console.visitor()).await.status, 403);
        world.console.store.people().set_account_enabled(id, true, START, &Actor::engine()).await.unwrap();
        world.fake.bend(|bent| bent.claims = json!({"groups": ["unknown"]}));
        assert_eq!(world.sign_in(&world.console.visitor()).await.status, 403);
        let actions = vec![AuditAction::SignIn, AuditAction::RefuseSignIn];
        let filter = AuditFilter { actions, limit: 10, ..AuditFilter::default() };
        let entries = world.console.store.audit().list(&filter).await.unwrap().items;
        assert_eq!(entries.len(), 3);
        for entry in entries {
            assert_eq!((entry.actor.as_str(), entry.object_id), ("ada", id), "{entry:?}");
            assert!(entry.detail.contains("\"method\":\"provider\""), "{}", entry.detail);
        }
    });
}

// covers: S9
#[test]
fn a_token_is_made_soon_after_a_sign_in_by_the_provider() {
    run(async {
        let world = World::start().await;
        let visitor = world.console.visitor();
        world.sign_in(&visitor).await;
        let fields = [("name", "deploy"), ("role", "viewer"), ("apps", "all")];
        assert_eq!(visitor.submit("/account/tokens", &fields).await.status, 200);
        world.console.advance_minutes(16);
        let late = visitor.submit("/account/tokens", &fields).await;
        assert_eq!(late.status, 422);
        assert!(late.error("name").unwrap().starts_with("You make a token within 15 minutes"), "{}", late.body);
        let now = START / 1000 + 16 * 60;
        world.fake.bend(|bent| bent.claims = json!({"iat": now, "exp": now + 300}));
        assert_eq!(world.sign_in(&visitor).await.status, 303);
        assert_eq!(visitor.submit("/account/tokens", &fields).await.status, 200);
    });
}
