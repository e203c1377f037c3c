//! Apps.

use carillon_store::App;
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
}

impl From<App> for AppView {
    fn from(App { id, name, title, created_at }: App) -> Self {
        Self { id, name, title, created_at: Time(created_at) }
    }
}
