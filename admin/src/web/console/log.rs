//! The log of a run, as far as its executor has it.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use crate::pipeline::{Error, LogPage};
use crate::store::RunView;
use crate::web::State;

/// A page does not wait longer for an executor; the script asks again, and so does a reload.
const PATIENCE: Duration = Duration::from_millis(900);
/// Lines that a page carries itself; the script fetches the rest.
const FIRST: usize = 1_000;

/// Some lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// Number of the first line, from 1.
    pub from: i32,
    pub lines: Vec<String>,
    /// Nothing more will come.
    pub end: bool,
    /// Why there is nothing, or what is waited for; empty if there is nothing to say.
    pub note: String,
}

impl Lines {
    pub fn next(&self) -> i32 {
        let lines = i32::try_from(self.lines.len()).unwrap_or(i32::MAX);
        self.from.saturating_add(lines)
    }

    /// The lines with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (i32, &String)> {
        (self.from..).zip(&self.lines)
    }
}

/// What the page of a run begins with.
pub async fn first_lines(state: &State, run: &RunView) -> Lines {
    match tokio::time::timeout(PATIENCE, read(state, run, 1)).await {
        Ok(Ok(mut lines)) => {
            let is_cut = lines.lines.len() > FIRST;
            lines.lines.truncate(FIRST);
            lines.end &= !is_cut;
            lines
        }
        _ => Lines {
            from: 1,
            note: "The executor has not answered yet.".to_owned(),
            ..Lines::default()
        },
    }
}

async fn read(state: &State, run: &RunView, from: i32) -> Result<Lines, Error> {
    match state.pipeline.read_log(run.id, from).await {
        Ok(page) => Ok(lines(page, run)),
        Err(Error::NoLog(why) | Error::Executor(why)) => Ok(Lines {
            from,
            end: !run.state.is_open(),
            note: if from > 1 {
                format!("The rest cannot be read: {why}.")
            } else {
                format!("There is no log: {why}.")
            },
            lines: vec![],
        }),
        Err(error) => Err(error),
    }
}

fn lines(page: LogPage, run: &RunView) -> Lines {
    let lines: Vec<String> = page.content.lines().map(visible).collect();
    let note = match (lines.is_empty() && page.from <= 1, run.state.is_open()) {
        (true, true) if run.sent_at.is_none() => "The log begins when the run is sent.",
        (true, true) => "Nothing has been written yet.",
        (true, false) if page.end => "The run wrote nothing.",
        _ => "",
    };
    Lines {
        from: page.from,
        end: page.end,
        note: note.to_owned(),
        lines,
    }
}

/// Control characters as their pictures: a log must not move a reader's cursor, nor hide what it did.
fn visible(line: &str) -> String {
    line.chars()
        .map(|c| match c {
            '\t' => c,
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
            '\u{7f}' => '\u{2421}',
            c if c.is_control() => '\u{fffd}',
            // Would change the order in which the rest is shown.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    from: i32,
}

/// `GET /runs/{id}/log?from=`: for the script.
pub async fn following(
    state: web::Data<State>,
    id: web::Path<i64>,
    asked: web::Query<Asked>,
) -> Result<HttpResponse, Problem> {
    let run = state.store.run(*id).await?.ok_or(Problem::Missing("run"))?;
    let lines = read(&state, &run, asked.from.max(1)).await?;
    Ok(HttpResponse::Ok().json(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_seen_not_obeyed() {
        assert_eq!(
            visible("a\tb\u{1b}[31mred\u{7f}\u{202e}x"),
            "a\tb␛[31mred␡\u{fffd}x"
        );
        assert_eq!(visible("<script>你好"), "<script>你好");
    }
}
