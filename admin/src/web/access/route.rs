//! A route: its method and path, its handler, and what a caller needs. There is none without an access.

use std::fmt;

use actix_web::http::Method;
use actix_web::{FromRequest, Handler, Responder, web};
use carillon_accounts::policy::Action;

/// What a caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Open,
    /// The access token of the executors, which the handler checks before it reads the body.
    Executor,
    /// A session, for what concerns the own account alone.
    Own,
    /// What the policy says of this action.
    Policy(Action, Target),
}

/// Where a route finds the object, and with it the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It is no single object: a list, or a form in which the app is chosen.
    AnyApp,
    /// What all apps share.
    Shared,
    Installation,
    /// The id in the path.
    App,
    Job,
    Run,
    Backfill,
    Alert,
    AlertRule,
}

/// As the table of expected answers spells it: `operate job`.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Policy(action, target) = self else {
            return f.write_str(match self {
                Self::Open => "open",
                Self::Executor => "executor token",
                _ => "own",
            });
        };
        let action = match action {
            Action::View => "view",
            Action::Operate => "operate",
            Action::Edit => "edit",
            Action::Script => "script",
            Action::Administer => "administer",
        };
        let target = match target {
            Target::AnyApp => "any app",
            Target::Shared => "shared",
            Target::Installation => "installation",
            Target::App => "app",
            Target::Job => "job",
            Target::Run => "run",
            Target::Backfill => "backfill",
            Target::Alert => "alert",
            Target::AlertRule => "alert rule",
        };
        write!(f, "{action} {target}")
    }
}

/// `Open`, `Executor`, `Own`, or an action and what it is done to: `Operate Job`.
macro_rules! access {
    ($access:ident) => {
        $crate::web::access::Access::$access
    };
    ($action:ident $target:ident) => {
        $crate::web::access::Access::Policy(
            carillon_accounts::policy::Action::$action,
            $crate::web::access::Target::$target,
        )
    };
}

pub(crate) use access;

pub struct Route {
    pub method: Method,
    pub path: String,
    pub access: Access,
    pub handler: actix_web::Route,
}

impl Route {
    pub fn new<F, Args>(method: Method, path: impl Into<String>, access: Access, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        Self { handler: web::method(method.clone()).to(handler), method, path: path.into(), access }
    }
}

/// A route as the table lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteEntry {
    pub method: String,
    pub path: String,
    /// `open`, `own`, `executor token`, or an action and what it is done to: `operate job`.
    pub access: String,
}

impl From<Route> for RouteEntry {
    fn from(route: Route) -> Self {
        Self { method: route.method.to_string(), path: route.path, access: route.access.to_string() }
    }
}

/// The routes of each path; the methods of a path follow each other.
pub fn by_path(routes: Vec<Route>) -> Vec<(String, Vec<Route>)> {
    let mut paths: Vec<(String, Vec<Route>)> = vec![];
    for route in routes {
        match paths.last_mut() {
            Some((path, methods)) if *path == route.path => methods.push(route),
            _ => paths.push((route.path.clone(), vec![route])),
        }
    }
    paths
}
