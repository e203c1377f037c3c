//! The commands may do what their token may do.

use carillon_accounts::token::{self, TokenRequest};
use carillon_store::people::accounts::NewAccount;
use carillon_store::{Actor, Grants, Role};
use serde_json::json;
use tempfile::tempdir;

use super::{command, file, line, printed};
use crate::api::client::{Api, NOW, api};

/// A personal token of a new account with this role for all apps, or for one.
pub async fn token_of(api: &Api, name: &str, grants: &Grants) -> String {
    let new = NewAccount { name, password_hash: "none", grants };
    let account_id = api.store.people().create_account(&new, NOW, &Actor::engine()).await.unwrap();
    let by = Actor::new(name, "", grants.clone());
    let request = TokenRequest { account_id, name: "files", grants, days: 30, credentials: 0 };
    token::create(&api.store, &request, NOW, &by).await.unwrap()
}

// covers: J12
#[test]
fn a_token_does_what_its_role_allows() {
    api(async |api| {
        let folder = tempdir().unwrap();
        printed(api, 0, &["apply", &file(folder.path(), &line("a", ""))]).await;
        let path = file(folder.path(), &[line("a", ", retries: 1"), line("b", "")].concat());
        let viewer = token_of(api, "vera", &Grants::for_all(Role::Viewer)).await;
        assert_eq!(command(api.url(), &viewer, &["drift", &path]).await.0, Some(2));
        assert_eq!(command(api.url(), &viewer, &["export"]).await.0, Some(0));
        let (code, out, err) = command(api.url(), &viewer, &["apply", &path]).await;
        assert_eq!((code, &*out), (Some(1), ""), "{err}");
        assert!(err.contains("403 Forbidden"), "{err}");

        let shipping = api.post("/apps", json!({"name": "shipping"})).await.ok()["id"].as_i64().unwrap();
        let stranger = token_of(api, "otto", &Grants::for_app(shipping, Role::Editor)).await;
        let (code, out, err) = command(api.url(), &stranger, &["apply", &path]).await;
        assert_eq!((code, &*out), (Some(1), ""), "an app of others: {err}");
        assert_eq!(api.get("/jobs").await.column("key"), [json!("a")]);

        let billing = api.get("/apps").await.column("id")[0].as_i64().unwrap();
        let editor = token_of(api, "edda", &Grants::for_app(billing, Role::Editor)).await;
        let (code, out, err) = command(api.url(), &editor, &["apply", &path]).await;
        assert_eq!(code, Some(0), "{err}");
        assert!(out.ends_with("1 created, 1 changed, 0 deleted, 0 unchanged\n"), "{out}");
    });
}
