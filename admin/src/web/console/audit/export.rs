//! `GET /audit/export`: the entries of a filter as a file.

use actix_web::web::Query;
use serde::Deserialize;

use crate::web::audit_export::{self, ExportFormat};
use crate::web::console::audit::query::AuditQuery;
use crate::web::page::{PageContext, PageError, PageResult};
use crate::web::state::Shared;

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct FormatQuery {
    /// `csv` if left out.
    format: String,
    /// A CSV file begins with a byte order mark.
    bom: bool,
}

pub async fn export(
    state: Shared,
    context: PageContext,
    query: Query<AuditQuery>,
    file: Query<FormatQuery>,
) -> PageResult {
    let (filter, wrong) = query.filter(context.zone, context.actor.grants.administered_apps());
    if let Some((label, message)) = wrong.into_iter().next() {
        return Err(PageError::Bad(context.fault(context.t(label), &message).to_string()));
    }
    let word = Some(file.format.as_str()).filter(|word| !word.is_empty());
    let format = word.map_or(Some(ExportFormat::Csv), ExportFormat::from_word);
    let format = format.ok_or_else(|| PageError::Bad("The format is csv or jsonl".to_owned()))?;
    let place = state.engine.costly.enter(&context.actor).await?;
    Ok(audit_export::answer(&state.store, filter, (format, file.bom), place).await?)
}
