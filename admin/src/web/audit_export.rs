//! The audit as a file: CSV for spreadsheets, JSON lines for programs. Read and sent page by page, so that the memory of an export
//! does not grow with it.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Bytes;
use carillon_engine::manage::limits::costly::CostlyPlace;
use carillon_store::audit::list::{AuditFilter, AuditKey, AuditRow};
use carillon_store::{Page, Store};
use futures_util::stream;

use crate::web::api::view::AuditView;
use crate::web::csv::{head, line};

/// Entries of one export.
const MOST: usize = 100_000;
const PAGE: u32 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Csv,
    JsonLines,
}

impl ExportFormat {
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "csv" => Some(Self::Csv),
            "jsonl" => Some(Self::JsonLines),
            _ => None,
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::JsonLines => "application/x-ndjson",
        }
    }

    fn file_name(self) -> &'static str {
        match self {
            Self::Csv => "attachment; filename=\"audit.csv\"",
            Self::JsonLines => "attachment; filename=\"audit.jsonl\"",
        }
    }

    fn head(self, with_mark: bool) -> String {
        match self {
            Self::Csv => head(AuditView::COLUMNS, with_mark),
            Self::JsonLines => String::new(),
        }
    }

    fn text(self, row: AuditRow) -> String {
        let view = AuditView::from(row);
        match self {
            Self::Csv => line(view.cells()),
            Self::JsonLines => serde_json::to_string(&view).unwrap_or_default() + "\n",
        }
    }
}

/// The first page is read before the answer begins: an error still has its status then.
///
/// # Errors
/// The database could not be asked.
pub async fn answer(
    store: &Arc<Store>,
    filter: AuditFilter,
    (format, with_mark): (ExportFormat, bool),
    place: CostlyPlace,
) -> carillon_store::Result<HttpResponse> {
    let filter = AuditFilter { limit: PAGE, ..filter };
    let first = store.audit().list(&filter).await?;
    let start = Export { store: Arc::clone(store), filter, page: Some(first), sent: 0, with_mark, _place: place };
    let pages = stream::try_unfold(start, move |export| export.step(format));
    Ok(HttpResponse::Ok()
        .content_type(format.content_type())
        .insert_header(("content-disposition", format.file_name()))
        .streaming(pages))
}

struct Export {
    store: Arc<Store>,
    filter: AuditFilter,
    /// The page that is sent next.
    page: Option<Page<AuditRow, AuditKey>>,
    sent: usize,
    /// A CSV file begins with a byte order mark.
    with_mark: bool,
    /// Until the last page is sent.
    _place: CostlyPlace,
}

impl Export {
    async fn step(mut self, format: ExportFormat) -> carillon_store::Result<Option<(Bytes, Self)>> {
        let Some(page) = self.page.take() else {
            return Ok(None);
        };
        let mut text = if self.sent == 0 { format.head(self.with_mark) } else { String::new() };
        self.sent += page.items.len();
        page.items.into_iter().for_each(|row| text.push_str(&format.text(row)));
        if page.next.is_some() && self.sent < MOST {
            self.filter.after = page.next;
            self.page = Some(self.store.audit().list(&self.filter).await?);
        }
        Ok(Some((text.into(), self)))
    }
}
