//! `GET /runs/{id}/log.txt`: the log of a run as a file. It is read and sent piece by piece, so that the memory of a download does
//! not grow with it.

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::{Bytes, Path};
use carillon_engine::manage::Error;
use carillon_engine::run_log::LogPage;
use futures_util::stream;

use crate::web::page::{PageContext, PageResult, refused};
use crate::web::state::Shared;

/// MiB after which the file ends with a note: an executor might never stop.
const MOST_MIB: usize = 1_024;

/// The text as the executor wrote it, colours included. The first lines are read before the answer begins: where there are none, a
/// message says so.
pub async fn download(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let run_id = state.engine.runs().get(*id).await?.id;
    let first = match state.engine.runs().log(run_id, 1, &context.actor).await {
        Ok(page) => page,
        Err(Error::NoLog(why) | Error::Executor(why)) => {
            return Ok(refused(&format!("/runs/{run_id}"), context.t("log-none").with("why", context.say(&why))));
        }
        Err(error) => return Err(error.into()),
    };
    let start = Download { state, context, run_id, page: Some(first), sent: 0 };
    Ok(HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"run-{run_id}.txt\"")))
        .streaming(stream::try_unfold(start, Download::step)))
}

struct Download {
    state: Shared,
    context: PageContext,
    run_id: i64,
    /// The lines that are sent next.
    page: Option<LogPage>,
    /// Bytes.
    sent: usize,
}

impl Download {
    /// An error cuts the connection: the browser sees that the file is not whole.
    async fn step(mut self) -> Result<Option<(Bytes, Self)>, Error> {
        let Some(page) = self.page.take() else {
            return Ok(None);
        };
        let mut text = page.content;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        self.sent += text.len();
        let is_last = page.end || page.to < page.from;
        if !is_last && self.sent > MOST_MIB << 20 {
            text.push_str(&format!("[{}]\n", self.context.language.text("log-file-cut").with("most", MOST_MIB)));
        } else if !is_last {
            match self.state.engine.runs().log(self.run_id, page.to.saturating_add(1), &self.context.actor).await {
                Ok(page) => self.page = Some(page),
                Err(Error::NoLog(why) | Error::Executor(why)) => {
                    let remark =
                        self.context.language.text("log-rest-unread").with("why", self.context.language.say(&why));
                    text.push_str(&format!("[{remark}]\n"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some((text.into(), self)))
    }
}
