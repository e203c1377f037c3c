//! `GET /misfires`: ranges of skipped fires, the filters in the address.

use actix_web::web::Query;
use askama::Template;
use carillon_store::{App, Misfire, MisfireFilter, MisfireKey, VisibleApps};

use crate::web::console::filters::{WrongFilters, list_query, read_rows, render_list};
use crate::web::forms::Form;
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::forms::moment::moment;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageError, PagePlace, PageResult, Pager};
use crate::web::state::{Shared, State};
use crate::web::text::names::skip_text;

const PAGE: u32 = 50;

list_query! {
    pub struct ListQuery {
        filters: [
            job,
            app,
            /// In the viewer's zone.
            from,
            to,
        ],
        /// The place of the page: a range's first instant and its job.
        after: String,
    }
}

impl ListQuery {
    /// The filter, and what is wrong with it.
    async fn filter(
        &self,
        state: &State,
        context: &PageContext,
        apps: &[App],
    ) -> Result<(MisfireFilter, WrongFilters), PageError> {
        let (mut job_id, mut wrong) = (None, vec![]);
        if !self.job.trim().is_empty() {
            match child_jobs::filtered(&state.store, &self.app, self.job.trim(), &context.visible()).await? {
                Ok(id) => job_id = Some(id),
                Err(message) => wrong.push(("job", message)),
            }
        }
        let visible = match (self.app.as_str(), apps.iter().find(|app| app.name == self.app)) {
            ("", _) => context.visible(),
            (_, Some(app)) => VisibleApps::Only(vec![app.id]),
            (name, None) => {
                wrong.push(("app", format!("there is no app “{name:.64}”")));
                VisibleApps::Only(vec![])
            }
        };
        let mut form = Form::default().with("from", &self.from).with("to", &self.to);
        let (from, to) = (moment(&mut form, "from", context.zone), moment(&mut form, "to", context.zone));
        for name in ["from", "to"] {
            wrong.extend(form.error(name).map(|error| (name, error.to_owned())));
        }
        let after = self.place();
        if after.is_none() && !self.after.is_empty() {
            wrong.push(("page", "the address names no place of this list".to_owned()));
        }
        Ok((MisfireFilter { apps: visible, job_id, from, to, after, limit: PAGE }, wrong))
    }

    fn place(&self) -> Option<MisfireKey> {
        let (from_at, job_id) = self.after.split_once('-')?;
        Some(MisfireKey { from_at: from_at.parse().ok()?, job_id: job_id.parse().ok()? })
    }

    fn address(&self, after: &str) -> String {
        self.address_of("/misfires", &[("after", after)], None)
    }
}

struct Row {
    misfire: Misfire,
    job: ChildJob,
    why: Message,
}

#[derive(Template)]
#[template(path = "operations/misfires.html")]
struct Page {
    context: PageContext,
    query: ListQuery,
    wrong: WrongFilters,
    apps: Vec<App>,
    rows: Vec<Row>,
    pager: Pager,
}

pub async fn list(state: Shared, context: PageContext, query: Query<ListQuery>, place: Query<PagePlace>) -> PageResult {
    let query = query.into_inner();
    let apps = state.store.apps().list(&context.visible()).await?;
    let (filter, wrong) = query.filter(&state, &context, &apps).await?;
    let (found, next) = read_rows(&wrong, state.store.runs().misfires(&filter)).await?;
    let mut ids: Vec<i64> = found.iter().map(|misfire| misfire.job_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let jobs = child_jobs::by_id(&state.store, &ids, &context.visible()).await?;
    let row = |misfire: Misfire| Row {
        job: jobs
            .iter()
            .find(|job| job.id == misfire.job_id)
            .cloned()
            .unwrap_or(ChildJob { id: misfire.job_id, job: None }),
        why: skip_text(context.language, &misfire),
        misfire,
    };
    let page = Page {
        rows: found.into_iter().map(row).collect(),
        pager: Pager::new(&query.address(""), &place, next.map(|key| format!("{}-{}", key.from_at, key.job_id))),
        context,
        wrong,
        apps,
        query,
    };
    Ok(render_list(&page, !page.wrong.is_empty()))
}
