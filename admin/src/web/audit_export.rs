//! The audit as a file: CSV for spreadsheets, JSON lines for programs. Read and sent page by page, so that the memory of an export
//! does not grow with it.

use std::fmt::Write as _;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::Bytes;
use carillon_store::audit::list::{AuditFilter, AuditKey, AuditRow};
use carillon_store::{Page, Store};
use futures_util::stream;

use crate::web::api::view::AuditView;

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

    fn head(self) -> String {
        match self {
            Self::Csv => line(AuditView::COLUMNS.map(str::to_owned)),
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
    format: ExportFormat,
) -> carillon_store::Result<HttpResponse> {
    let filter = AuditFilter { limit: PAGE, ..filter };
    let first = store.audit_entries(&filter).await?;
    let start = Export { store: Arc::clone(store), filter, page: Some(first), sent: 0 };
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
}

impl Export {
    async fn step(mut self, format: ExportFormat) -> carillon_store::Result<Option<(Bytes, Self)>> {
        let Some(page) = self.page.take() else {
            return Ok(None);
        };
        let mut text = if self.sent == 0 { format.head() } else { String::new() };
        self.sent += page.items.len();
        page.items.into_iter().for_each(|row| text.push_str(&format.text(row)));
        if page.next.is_some() && self.sent < MOST {
            self.filter.after = page.next;
            self.page = Some(self.store.audit_entries(&self.filter).await?);
        }
        Ok(Some((text.into(), self)))
    }
}

fn line<const N: usize>(cells: [String; N]) -> String {
    let mut line = String::new();
    for (place, text) in cells.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        // Writing to a text cannot fail.
        let _ = write!(line, "{comma}{}", cell(text));
    }
    line + "\r\n"
}

/// A spreadsheet takes a cell that begins like a formula for one; an apostrophe before it makes it a text.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if is_formula { "'" } else { "" };
    match is_formula || text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{guard}{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: S37
    #[test]
    fn no_cell_is_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(cell(formula), format!("\"'{formula}\""));
        }
        assert_eq!(cell("plain text"), "plain text");
        assert_eq!(cell("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
        assert_eq!(line(["a".into(), "=b".into()]), "a,\"'=b\"\r\n");
    }
}
