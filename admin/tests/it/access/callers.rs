//! Who asks: accounts with a session and a token of the same rights, and the bearers of tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use carillon_accounts::secret::random_secret;
use carillon_accounts::session::{self, SignedIn};
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_accounts::token::{self, TokenRequest};
use carillon_scheduler::Clock as _;
use carillon_store::people::accounts::NewAccount;
use carillon_store::people::sessions::SignInMethod;
use carillon_store::{Actor, GrantScope, Grants, Role};

use super::world::{NOW, World};

/// The columns of the table.
pub const CALLERS: [&str; 10] = [
    "anonymous",
    "viewer of own",
    "operator of own",
    "editor of own",
    "admin of own",
    "admin of all",
    "executor token of all apps",
    "executor token of own",
    "executor token of other",
    "personal token, operator of own",
];

/// How a caller shows who it is.
pub enum Caller {
    Anonymous,
    /// The console's session and the API's token of an account.
    Account {
        id: i64,
        token: String,
    },
    Executor {
        token: String,
    },
    /// A token alone, with less than its account may do.
    Token {
        token: String,
    },
}

pub async fn all(world: &World) -> Vec<Caller> {
    let of_own = |role: Role| Grants::for_app(world.own.app.id, role);
    let mut callers = vec![Caller::Anonymous];
    for (name, grants) in [
        ("viewer", of_own(Role::Viewer)),
        ("operator", of_own(Role::Operator)),
        ("editor", of_own(Role::Editor)),
        ("app-admin", of_own(Role::Admin)),
        ("all-admin", Grants::for_all(Role::Admin).with_scripts([GrantScope::AllApps])),
    ] {
        let id = account(world, name, &grants).await;
        let token = token(world, id, &grants, &grants).await;
        callers.push(Caller::Account { id, token });
    }
    callers.push(Caller::Executor { token: world.access_token.clone() });
    for app in [&world.own.app, &world.other.app] {
        callers.push(Caller::Executor { token: world.executor_token(app).await });
    }
    let all = Grants::for_all(Role::Admin);
    let owner = account(world, "owner", &all).await;
    callers.push(Caller::Token { token: token(world, owner, &all, &of_own(Role::Operator)).await });
    callers
}

/// An account with the password of the first administrator.
pub async fn account(world: &World, name: &str, grants: &Grants) -> i64 {
    let password_hash = world.store.people().account_by_name(FIRST_ADMIN).await.unwrap().unwrap().password_hash;
    let new = NewAccount { name, password_hash: &password_hash, grants };
    world.store.people().create_account(&new, NOW, &Actor::engine()).await.unwrap()
}

pub async fn token(world: &World, account_id: i64, of_account: &Grants, grants: &Grants) -> String {
    let by = Actor::new("owner", "", of_account.clone());
    let request = TokenRequest { account_id, name: "test", grants, days: 30, credentials: 0 };
    token::create(&world.store, &request, NOW, &by).await.unwrap()
}

/// The cookie of a new session of the account, and the form token in a form that the guard takes.
pub async fn session(world: &World, account_id: i64) -> (String, String) {
    let by = Actor::unknown("127.0.0.1").with_account(account_id);
    let credentials = world.store.people().account(account_id).await.unwrap().unwrap().credentials;
    let who = SignedIn::new(account_id, credentials, SignInMethod::Password);
    let opened = session::open(&world.store, &by, who, None, "test", world.clock.now()).await.unwrap().unwrap();
    // Under a mask of zeros.
    let masked = [vec![0; opened.csrf.len()], opened.csrf.into_bytes()].concat();
    (format!("carillon_session={}", opened.id), URL_SAFE_NO_PAD.encode(masked))
}

pub fn unknown_token() -> String {
    format!("carillon_{}", random_secret())
}
