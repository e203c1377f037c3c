//! Pauses of apps.

use carillon_store::app::pauses::Pause;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;

/// A pause of an app, or of all apps, that is in force or ahead
#[derive(Serialize, ToSchema)]
#[schema(as = Pause)]
pub struct PauseView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// The app's name; null: all apps
    app: Option<String>,
    /// Why
    note: String,
    /// Who made it
    author: String,
    /// When it begins or has begun
    from: Time,
    /// When it ends by itself; null: not before somebody ends it
    until: Option<Time>,
    /// When it was made
    created_at: Time,
}

impl From<Pause> for PauseView {
    fn from(pause: Pause) -> Self {
        Self {
            id: pause.id,
            app: pause.app,
            note: pause.note,
            author: pause.author,
            from: Time(pause.starts_at),
            until: pause.ends_at.map(Time),
            created_at: Time(pause.created_at),
        }
    }
}
