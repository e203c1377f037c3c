//! Pages of lists: by number of rows before the page, as xxl-job counts.

use actix_web::HttpResponse;
use serde_json::{Value, json};

use super::call::Call;
use crate::web::api::Error;

/// Rows of a page, at most.
const MOST_ROWS: i64 = 1000;
const USUAL_ROWS: i64 = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRange {
    pub before: usize,
    pub rows: usize,
    /// By `offset` and `pagesize`, as from 3.3 on.
    has_envelope: bool,
}

impl PageRange {
    /// # Errors
    /// A parameter is no number.
    pub fn of(call: &Call) -> Result<Self, Error> {
        let sent = &call.parameters;
        let has_envelope = sent.has("pagesize");
        let (before, rows) = if has_envelope { ("offset", "pagesize") } else { ("start", "length") };
        let before = sent.number(before)?.unwrap_or(0).max(0);
        let rows = sent.number(rows)?.unwrap_or(USUAL_ROWS).clamp(1, MOST_ROWS);
        let size = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Self { before: size(before), rows: size(rows), has_envelope })
    }

    /// The part of all rows that is on the page.
    pub fn cut<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        let from = self.before.min(all.len());
        &all[from..from.saturating_add(self.rows).min(all.len())]
    }

    pub fn answer(&self, call: &Call, rows: &[Value], total: usize) -> HttpResponse {
        match self.has_envelope {
            true => call.done(json!({"offset": 0, "pagesize": 0, "data": rows, "total": total})),
            false => HttpResponse::Ok().json(json!({"recordsTotal": total, "recordsFiltered": total, "data": rows})),
        }
    }
}
