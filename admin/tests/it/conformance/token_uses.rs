//! First uses of tokens in the audit, on every database.

use std::sync::Arc;

use carillon_accounts::script_session::{self, Credentials, ScriptSignIn};
use carillon_accounts::token::{self, Bearer, TokenRequest};
use carillon_scheduler::AuditObjectKind;
use carillon_store::people::accounts::NewAccount;
use carillon_store::{Actor, AuditObject, Grants, Role, Store};
use futures_util::future::join_all;

use super::fixture::{Fixture, NOW};

fn from(source: &str) -> Actor {
    Actor::new("executor", source, Grants::default())
}

/// Another node on the same database; on SQLite there is one alone.
async fn another_node(fixture: &Fixture, db: &crate::services::TestDatabase) -> Arc<Store> {
    match db.kind() {
        crate::services::Kind::Sqlite => fixture.store.clone(),
        _ => Store::open(&db.store()).await.unwrap(),
    }
}

databases! {
    // covers: S37, V10
    async fn the_first_use_of_a_token_has_one_entry_whoever_comes_at_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let nodes = [fixture.store.clone(), another_node(&fixture, db).await];
        let tokens = [AuditObject::api_token(0), AuditObject::new(AuditObjectKind::ExecutorToken, 0)];
        for number in 0..20 {
            let by = from(&format!("10.0.0.{number}"));
            let uses = (0..8).map(|n| nodes[n % 2].people().note_token_use(tokens[n / 4], &by, NOW));
            for noted in join_all(uses).await {
                noted.unwrap();
            }
            assert!(nodes[0].people().knows_token_use(tokens[0], &by.source));
        }
        assert_eq!(fixture.count("audit", "action = 'use_token' AND object_id = 0").await, 40);
        assert_eq!(fixture.count("audit", "action = 'use_token' AND object = 'api_token'").await, 20);
    }

    // covers: S37, V4
    async fn uses_from_one_network_are_one_use(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let token = AuditObject::api_token(0);
        for number in 1..=50 {
            let by = from(&format!("2001:db8:1:2::{number:x}"));
            fixture.store.people().note_token_use(token, &by, NOW).await.unwrap();
        }
        another_node(&fixture, db).await.people().note_token_use(token, &from("2001:db8:1:2:ffff::1"), NOW).await.unwrap();
        let written = "action = 'use_token' AND source = '2001:db8:1:2::/64' AND detail LIKE '%2001:db8:1:2::1\"%'";
        assert_eq!(fixture.count("audit", written).await, 1, "with the address that came first");
        assert_eq!(fixture.count("audit", "action = 'use_token'").await, 1);
        // A client with a thousand networks fills no table.
        for number in 0..300 {
            let by = from(&format!("2001:db8:2:{number:x}::1"));
            fixture.store.people().note_token_use(token, &by, NOW).await.unwrap();
        }
        assert_eq!(fixture.count("audit", "action = 'use_token'").await, 200, "within a minute");
    }

    // covers: S9
    async fn a_script_session_of_a_token_may_what_the_token_may_and_ends_with_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let (people, by) = (fixture.store.people(), from("10.0.0.1"));
        let (all, of_token) = (Grants::for_all(Role::Admin), Grants::for_app(7, Role::Viewer));
        let new = NewAccount { name: "ada", password_hash: "h", grants: &all };
        let account_id = people.create_account(&new, NOW, &by).await.unwrap();
        let owner = Actor::new("ada", "", all.clone()).with_account(account_id);
        let request = TokenRequest { account_id, name: "deploy", grants: &of_token, days: 1, credentials: 0 };
        let token = token::create(&fixture.store, &request, NOW, &owner).await.unwrap();
        let bearer = Bearer { source: "10.0.0.1", request_id: None, needs_factor: false };
        let sent = Credentials { name: "ada", password: &token, has_passwords: false, agent: "test" };
        let signed_in = script_session::sign_in(&fixture.store, &sent, (&by, bearer), NOW).await.unwrap();
        let ScriptSignIn::Opened(value) = signed_in else { panic!("refused") };
        let actor = async |now| script_session::actor(&fixture.store, &value, bearer, now).await.unwrap();
        let found = actor(NOW).await.unwrap();
        assert_eq!((found.grants, found.token.as_deref(), found.account_id), (of_token, Some("deploy"), Some(account_id)));
        let (id, secret) = value.split_once('.').unwrap();
        for other in [format!("0.{secret}"), format!("{}.{secret}", id.parse::<i64>().unwrap() + 1)] {
            let found = script_session::actor(&fixture.store, &other, bearer, NOW).await.unwrap();
            assert_eq!(found, None, "the session names its token");
        }
        assert_eq!(actor(NOW + 31 * 60_000).await, None, "idle");
        people.revoke_token(account_id, id.parse().unwrap(), NOW, &by).await.unwrap();
        assert_eq!(actor(NOW).await, None);
    }
}
