//! Calls that are not answered: each names what there is in its place.

use actix_web::HttpRequest;

use super::answer::Reply;
use super::call::Call;
use crate::web::api::Error;

/// The path's beginning, and what there is instead.
const INSTEAD: [(&str, &str); 5] = [
    ("/user/updatePwd", "change your password on the page of your account, /account"),
    ("/auth/updatePwd", "change your password on the page of your account, /account"),
    ("/user/", "accounts and their roles are on the page /users"),
    ("/jobcode", "a job calls a handler of its executor; its definition is PUT /api/v1/jobs/{id}"),
    ("/joblog/clearLog", "ended runs are deleted by the rules of retention, PUT /api/v1/retention"),
];

pub async fn left_out(request: HttpRequest, _: Call) -> Reply {
    let path = request.path();
    let instead =
        INSTEAD.iter().find(|(start, _)| path.starts_with(start)).map_or("see /api/v1/openapi.json", |it| it.1);
    Err(Error::invalid(format!("{path} is not answered here: {instead}")))
}
