//! The paths of apps, their executors and their tokens.

use actix_web::http::Method;
use carillon_accounts::policy::Action::{Administer, Operate, View};

use super::{executors, list, tokens};
use crate::web::access::Access::Policy;
use crate::web::access::Target::{AnyApp, App, Installation};
use crate::web::api::endpoint::Endpoint;
use crate::web::api::extract::parameter::text;
use crate::web::api::view::{AppView, ExecutorView, NewAppTokenView};

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const DELETE: Method = Method::DELETE;

pub fn routes() -> Vec<Endpoint> {
    vec![
        Endpoint::json(GET, "/apps", Policy(View, AnyApp), list::list).describe(
            "apps",
            "listApps",
            "All apps, by name",
        ),
        Endpoint::new(POST, "/apps", Policy(Administer, Installation), list::create)
            .describe("apps", "createApp", "Create an app")
            .body::<list::AppRequest>()
            .answers::<AppView>(201)
            .fails([409]),
        Endpoint::json(PUT, "/apps/{id}", Policy(Administer, Installation), list::update)
            .describe(
                "apps",
                "updateApp",
                "Rename an app, or change its title; its executors may register under the old name until that is removed",
            )
            .body::<list::AppUpdate>()
            .fails([409]),
        Endpoint::new(DELETE, "/apps/{id}", Policy(Administer, Installation), list::delete)
            .describe(
                "apps",
                "deleteApp",
                "Delete an app without jobs and open runs, with its executors, tokens, pauses and alert rules",
            )
            .answers_nothing()
            .fails([409]),
        Endpoint::json(GET, "/apps/{id}/former-names", Policy(View, App), list::former_names).describe(
            "apps",
            "listFormerNames",
            "Names that an app had, and under which its executors may register, by name",
        ),
        Endpoint::new(
            DELETE,
            "/apps/{id}/former-names",
            Policy(Administer, Installation),
            list::remove_former_name,
        )
        .describe("apps", "removeFormerName", "Remove a former name: who registers under it is an executor of no app")
        .required_query("name", "The former name", text())
        .answers_nothing(),
        Endpoint::json(GET, "/apps/{id}/starters", Policy(Administer, App), list::starters).describe(
            "apps",
            "listStarters",
            "The apps whose jobs may start jobs of this app, as children of theirs",
        ),
        Endpoint::json(PUT, "/apps/{id}/starters", Policy(Administer, App), list::set_starters)
            .describe("apps", "setStarters", "Set the apps whose jobs may start jobs of this app")
            .body::<list::AppStarters>(),
        Endpoint::json(GET, "/apps/{id}/executors", Policy(View, App), executors::list).describe(
            "apps",
            "listExecutors",
            "Executors of an app, by address",
        ),
        Endpoint::new(POST, "/apps/{id}/executors", Policy(Administer, Installation), executors::enter)
            .describe("apps", "enterExecutor", "Enter the address of an executor that need not register")
            .body::<executors::NewExecutor>()
            .answers::<ExecutorView>(201)
            .fails([409]),
        Endpoint::json(PUT, "/apps/{id}/executors", Policy(Administer, App), executors::update)
            .describe("apps", "updateExecutor", "Set the weight and the labels of an executor")
            .body::<executors::ExecutorUpdate>(),
        Endpoint::new(DELETE, "/apps/{id}/executors", Policy(Administer, App), executors::remove)
            .describe(
                "apps",
                "removeExecutor",
                "Remove an executor and what is set for it; one that sends heartbeats is there again with the next one",
            )
            .required_query("address", "The executor's address", text())
            .answers_nothing(),
        Endpoint::json(PUT, "/apps/{id}/executors/drain", Policy(Operate, App), executors::drain)
            .describe(
                "apps",
                "drainExecutor",
                "Set whether an executor gets new runs; what it has ends there. Lasts until it is undone, also when it \
                 registers again",
            )
            .body::<executors::DrainUpdate>(),
        Endpoint::json(GET, "/apps/{id}/tokens", Policy(Administer, App), tokens::list).describe(
            "apps",
            "listAppTokens",
            "The tokens of an app's executors, newest first",
        ),
        Endpoint::new(POST, "/apps/{id}/tokens", Policy(Administer, App), tokens::create)
            .describe("apps", "createAppToken", "Create a token for an app's executors; two can be valid at a time")
            .body::<tokens::AppTokenRequest>()
            .answers::<NewAppTokenView>(201)
            .fails([409]),
        Endpoint::json(PUT, "/apps/{id}/tokens", Policy(Administer, App), tokens::set_rule)
            .describe("apps", "setAppTokenRule", "Set whether an app accepts its own tokens alone")
            .body::<tokens::AppTokenRule>()
            .fails([409]),
        Endpoint::new(DELETE, "/apps/{id}/tokens/{token}", Policy(Administer, App), tokens::revoke)
            .describe("apps", "revokeAppToken", "Revoke a token; every node refuses it within two seconds")
            .answers_nothing(),
    ]
}
