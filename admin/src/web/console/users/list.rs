//! `GET /users`

use askama::Template;
use carillon_store::VisibleApps;
use carillon_store::people::accounts::Account;

use crate::web::console::users::grant_lines::{GrantLine, grant_lines};
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

struct Row {
    account: Account,
    may: Vec<GrantLine>,
}

#[derive(Template)]
#[template(path = "users/list.html")]
struct Page {
    context: PageContext,
    rows: Vec<Row>,
}

pub async fn list(state: Shared, context: PageContext) -> PageResult {
    let apps = state.store.apps().list(&VisibleApps::All).await?;
    let row = |account: Account| Row { may: grant_lines(context.language, &account.grants, &apps), account };
    let rows = state.store.people().accounts().await?.into_iter().map(row).collect();
    Ok(show(&Page { context, rows }))
}
