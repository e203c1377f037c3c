//! A call that has passed the guard.

use actix_web::error::ErrorUnauthorized;
use actix_web::{HttpMessage as _, HttpResponse};
use carillon_accounts::policy::{Action, Object};
use carillon_engine::manage;
use carillon_scheduler::{Millis, Zone};
use carillon_store::{Actor, App, VisibleApps};
use serde_json::Value;

use super::answer::Dialect;
use super::dates;
use super::parameters::Parameters;
use crate::web::api::Error;
use crate::web::from_request::from_request;
use crate::web::state::State;

/// Who calls, with what, and how the answer is read.
#[derive(Clone, Debug)]
pub struct Call {
    pub by: Actor,
    pub dialect: Dialect,
    pub parameters: Parameters,
}

impl Call {
    /// The apps of which lists show the objects.
    pub fn visible(&self) -> VisibleApps {
        self.by.grants.visible_apps()
    }

    pub fn done(&self, payload: impl Into<Value>) -> HttpResponse {
        self.dialect.success(&payload.into())
    }

    /// The app that a parameter names by its number. One that the caller does not see does not exist.
    ///
    /// # Errors
    /// There is none.
    pub async fn app(&self, state: &State, name: &str) -> Result<App, Error> {
        let id = self.parameters.id(name)?;
        let found = state.engine.apps().get(id).await?;
        manage::require(&self.by, Action::View, Object::App(id), || format!("app {id}"))?;
        Ok(found)
    }

    /// An instant as this dialect writes it.
    pub fn date(&self, at: Millis, zone: Zone) -> String {
        match self.dialect {
            Dialect::Old => dates::iso(at),
            Dialect::New => dates::local(at, zone),
        }
    }
}

from_request!(Call: actix_web::Error, |request| {
    let call = request.extensions().get::<Self>().cloned();
    call.ok_or_else(|| ErrorUnauthorized("signed out"))
});
