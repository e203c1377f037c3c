//! `GET /runs/{id}/log.txt`: the log of a run as a file.

use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::{HttpResponse, web};
use carillon_engine::manage::Error;

use crate::web::page::{PageContext, PageResult, redirect_with_flash};
use crate::web::state::Shared;

/// Bytes after which the file ends with a note: it is collected in memory.
const MOST: usize = 32 << 20;

/// The text as the executor wrote it, colours included.
pub async fn download(state: Shared, context: PageContext, id: web::Path<i64>) -> PageResult {
    let run = state.engine.runs().get(*id).await?;
    let (mut text, mut from) = (String::new(), 1);
    loop {
        let page = match state.engine.runs().log(run.id, from).await {
            Ok(page) => page,
            Err(Error::NoLog(why) | Error::Executor(why)) if text.is_empty() => {
                let text = context.t("log-none").with("why", context.say(&why)).to_string();
                return Ok(redirect_with_flash(&format!("/runs/{}", run.id), "failed", &text));
            }
            Err(Error::NoLog(why) | Error::Executor(why)) => {
                text.push_str(&format!("[the rest cannot be read: {why}]\n"));
                break;
            }
            Err(error) => return Err(error.into()),
        };
        let has_more = page.to >= page.from && !page.end;
        from = page.to.saturating_add(1);
        text.push_str(&page.content);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if text.len() > MOST {
            text.push_str("[the file ends here: the log is longer than 32 MiB]\n");
            break;
        }
        if !has_more {
            break;
        }
    }
    Ok(HttpResponse::Ok()
        .content_type("text/plain; charset=utf-8")
        .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"run-{}.txt\"", run.id)))
        .body(text))
}
