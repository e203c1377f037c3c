//! `GET /imports`: what the last import of each source said, and which apps still have to change over.

use askama::Template;
use carillon_import::xxl_job::{ImportRecord, RAN, RecordedCode, meaning};
use carillon_scheduler::Millis;
use carillon_store::import::reports::{ImportProgress, StoredReport};

use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

/// Rows of a code that are listed.
const ROWS: usize = 200;

struct Import {
    source: String,
    at: Millis,
    /// None: a newer program has written it.
    record: Option<ImportRecord>,
    apps: Vec<ImportProgress>,
}

#[derive(Template)]
#[template(path = "operations/imports.html")]
struct Page {
    context: PageContext,
    imports: Vec<Import>,
}

impl Page {
    /// The pieces of a code's meaning; true: one that stood between backticks.
    fn meaning(&self, found: &RecordedCode) -> Vec<(bool, String)> {
        let text = self.context.say(meaning(&found.code));
        text.split('`').enumerate().map(|(at, piece)| (at % 2 == 1, piece.to_owned())).collect()
    }

    fn hidden(&self, found: &RecordedCode) -> usize {
        found.rows.len().saturating_sub(ROWS)
    }
}

pub async fn page(state: Shared, context: PageContext) -> PageResult {
    let mut imports = vec![];
    for StoredReport { source, imported_at, report } in state.store.imports().reports().await? {
        imports.push(Import {
            apps: state.store.imports().progress(&source, RAN).await?,
            record: serde_json::from_str(&report).ok(),
            at: imported_at,
            source,
        });
    }
    Ok(show(&Page { context, imports }))
}
