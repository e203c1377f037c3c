//! Apps, and the tokens of their executors.

use carillon_store::App;
use carillon_store::app::executor_tokens::ExecutorToken;
use carillon_store::app::rename::FormerName;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;

/// An app
#[derive(Serialize, ToSchema)]
#[schema(as = App)]
pub struct AppView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// What executors register under
    #[schema(min_length = 4, max_length = 64)]
    name: String,
    /// For people
    #[schema(min_length = 0, max_length = 64)]
    title: String,
    /// When it was created
    created_at: Time,
    /// The token of all apps is not accepted from its executors, and not sent to them
    own_tokens_only: bool,
}

impl From<App> for AppView {
    fn from(App { id, name, title, created_at, own_tokens_only }: App) -> Self {
        Self { id, name, title, created_at: Time(created_at), own_tokens_only }
    }
}

/// A name that an app had. Executors may still register under it
#[derive(Serialize, ToSchema)]
#[schema(as = FormerName)]
pub struct FormerNameView {
    /// The name
    #[schema(min_length = 4, max_length = 64)]
    name: String,
    /// When the app was given another one
    created_at: Time,
}

impl From<FormerName> for FormerNameView {
    fn from(former: FormerName) -> Self {
        Self { name: former.name, created_at: Time(former.created_at) }
    }
}

/// A token of an app's executors
#[derive(Serialize, ToSchema)]
#[schema(as = AppToken)]
pub struct AppTokenView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// For people
    name: String,
    /// When it was made
    created_at: Time,
    /// From when on it is refused; null: it lasts until it is revoked
    expires_at: Option<Time>,
    /// When an executor last registered with it, to the minute; null: never
    used_at: Option<Time>,
    /// The address that this executor's request came from
    used_from: Option<String>,
}

impl From<ExecutorToken> for AppTokenView {
    fn from(token: ExecutorToken) -> Self {
        Self {
            id: token.id,
            name: token.name,
            created_at: Time(token.created_at),
            expires_at: token.expires_at.map(Time),
            used_at: token.used_at.map(Time),
            used_from: token.used_from,
        }
    }
}

/// A token that was just made
#[derive(Serialize, ToSchema)]
#[schema(as = NewAppToken)]
pub struct NewAppTokenView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// For people
    name: String,
    /// The token itself. It is not shown again
    token: String,
    /// From when on it is refused; null: it lasts until it is revoked
    expires_at: Option<Time>,
}

impl NewAppTokenView {
    pub fn new(created: ExecutorToken, token: String) -> Self {
        Self { id: created.id, name: created.name, token, expires_at: created.expires_at.map(Time) }
    }
}
