//! Lists of skipped ranges, newest first, page by page.

use carillon_scheduler::{Millis, MisfirePolicy, SkipReason};

use crate::db::sql::filter::{Conditions, Page};
use crate::db::sql::rows::Word;
use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::views::RunStore;

row_struct! {
    /// A range of instants that did not run.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Misfire {
        pub job_id: i64,
        /// The first instant of the range.
        pub from_at: Millis,
        /// The last one, included.
        pub to_at: Millis,
        /// Exact below 10,000; 10,000 means that many or more.
        pub count: i32,
        pub policy: MisfirePolicy as Word,
        pub reason: SkipReason as Word,
        /// The epoch of the claim that recorded the range; 0: an edit did.
        pub epoch: i64,
    }
}

/// The place of a range in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MisfireKey {
    pub from_at: Millis,
    pub job_id: i64,
}

/// Which ranges; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MisfireFilter {
    /// Only those of these apps.
    pub apps: VisibleApps,
    pub job_id: Option<i64>,
    /// Ranges with a part at or after this …
    pub from: Option<Millis>,
    /// … and before this.
    pub to: Option<Millis>,
    /// Ranges behind this one in the list.
    pub after: Option<MisfireKey>,
    /// 1 to 1000.
    pub limit: u32,
}

impl RunStore<'_> {
    pub async fn misfires(self, filter: &MisfireFilter) -> Result<Page<Misfire, MisfireKey>> {
        let mut conditions = Conditions::default();
        conditions.visible_job(&filter.apps, "job_id");
        conditions.add_if("job_id = ?", filter.job_id);
        conditions.add_if("to_at >= ?", filter.from);
        conditions.add_if("from_at < ?", filter.to);
        if let Some(MisfireKey { from_at, job_id }) = filter.after {
            let text = "from_at <= ? AND (from_at < ? OR job_id < ?)";
            conditions.add(text, [from_at.into(), from_at.into(), job_id.into()]);
        }
        let (filter_text, values) = conditions.finish_page(filter.limit);
        let text = format!(
            "SELECT job_id, from_at, to_at, count, policy, reason, epoch FROM misfire{filter_text} \
             ORDER BY from_at DESC, job_id DESC LIMIT ?"
        );
        let rows = self.query(&self.read, &text, values).await?;
        let key = |misfire: &Misfire| MisfireKey { from_at: misfire.from_at, job_id: misfire.job_id };
        Ok(self.readable_page("job", &rows, filter.limit, key))
    }
}
