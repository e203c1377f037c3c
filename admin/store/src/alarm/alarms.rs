//! What operators should know. An alarm is its row, written in the transaction that causes it, a warning in the log, and a count: the
//! engine does the last two. The row is also the outbox of the alert rules, which look at each alarm once (`alert::routing`).

use carillon_scheduler::{AlarmKind, Millis};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, FromQueryResult, QueryResult, Value};

use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::{Conditions, Page};
use crate::db::sql::rows::Word;
use crate::db::sql::text::printable;
use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::views::AlarmStore;

/// An alarm whose row is written. The caller reports it to the log and the metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an alarm belongs into the log and the metrics too"]
pub struct Alarm {
    pub kind: AlarmKind,
    /// None: it is about the cluster.
    pub job_id: Option<i64>,
    pub run_id: Option<i64>,
    pub text: String,
}

impl Alarm {
    /// Does it stay open until its condition is over? The others are about a moment, or about a run that has ended for good.
    fn is_actionable(&self) -> bool {
        match self.kind {
            AlarmKind::Unknown | AlarmKind::Lost | AlarmKind::Stuck => self.run_id.is_some(),
            AlarmKind::Paused | AlarmKind::LateStart | AlarmKind::Loop => self.job_id.is_some(),
            _ => false,
        }
    }
}

/// An alarm as it lies in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmRow {
    pub id: i64,
    pub alarm: Alarm,
    pub created_at: Millis,
    /// The alarm waits for an operator.
    pub is_open: bool,
    /// 0; 1 when it was escalated.
    pub level: i16,
    pub escalated_at: Option<Millis>,
    pub closed_at: Option<Millis>,
}

/// The place of an alarm in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmKey {
    pub created_at: Millis,
    pub id: i64,
}

/// Which alarms; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlarmFilter {
    /// Only those about jobs of these apps; those about the cluster are for who sees all.
    pub apps: VisibleApps,
    /// Only these; empty: any.
    pub ids: Vec<i64>,
    pub kinds: Vec<AlarmKind>,
    pub job_id: Option<i64>,
    pub run_id: Option<i64>,
    /// Whether they wait for an operator.
    pub open: Option<bool>,
    /// Whether they were escalated.
    pub escalated: Option<bool>,
    /// `from` ≤ `created_at` < `to`.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    /// Alarms behind this one in the list.
    pub after: Option<AlarmKey>,
    /// 1 to 1000.
    pub limit: u32,
}

pub(super) const COLUMNS: &str = "id, job_id, run_id, kind, message, created_at, open_at, unrouted_at";

impl AlarmStore<'_> {
    /// Writes an alarm. `id` is of [`ids::ROW`] and was taken before the transaction began: on SQLite there is no second
    /// writer.
    pub(crate) async fn raise(self, tx: &impl ConnectionTrait, id: i64, alarm: Alarm, now: Millis) -> Result<Alarm> {
        let is_open = alarm.is_actionable();
        let (alarm, values) = row(id, alarm, is_open, now);
        self.insert_rows(tx, "alarm", COLUMNS, vec![values]).await?;
        Ok(alarm)
    }

    /// Writes alarms with one statement; their ids as for [`Self::raise`].
    pub(crate) async fn raise_all(
        self,
        tx: &Transaction,
        alarms: Vec<(i64, Alarm)>,
        now: Millis,
    ) -> Result<Vec<Alarm>> {
        let rows = alarms.into_iter().map(|(id, alarm)| {
            let is_open = alarm.is_actionable();
            row(id, alarm, is_open, now)
        });
        let (alarms, values) = rows.unzip();
        self.insert_rows(tx, "alarm", COLUMNS, values).await?;
        Ok(alarms)
    }

    /// An alarm that no other write causes.
    pub async fn raise_alone(self, alarm: Alarm, now: Millis) -> Result<Alarm> {
        let id = self.take_id(&ids::ROW).await?;
        self.raise(&self.write, id, alarm, now).await
    }

    /// Newest first, page by page.
    pub async fn list(self, filter: &AlarmFilter) -> Result<Page<AlarmRow, AlarmKey>> {
        let (text, values) = list_text(self.backend, filter);
        let rows = self.query(&self.read, &text, values).await?;
        let key = |row: &AlarmRow| AlarmKey { created_at: row.created_at, id: row.id };
        Ok(self.readable_page("alarm", &rows, filter.limit, key))
    }
}

pub(crate) fn list_text(backend: DbBackend, filter: &AlarmFilter) -> (String, Vec<Value>) {
    let mut conditions = Conditions::default();
    conditions.visible_job(&filter.apps, "job_id");
    conditions.among("id", filter.ids.iter().copied());
    conditions.among("kind", filter.kinds.iter().map(|kind| kind.as_str()));
    conditions.add_if("job_id = ?", filter.job_id);
    conditions.add_if("run_id = ?", filter.run_id);
    match filter.open {
        Some(true) => conditions.add("open_at > 0", []),
        // Nearly all of them: SQLite would sort what the index of the open ones has.
        Some(false) if backend == DbBackend::Sqlite => conditions.add("+open_at IS NULL", []),
        Some(false) => conditions.add("open_at IS NULL", []),
        None => {}
    }
    match filter.escalated {
        // The words of the index `alarm_escalated`.
        Some(true) => conditions.add("level > 0", []),
        Some(false) => conditions.add("level = 0", []),
        None => {}
    }
    conditions.add_if("created_at >= ?", filter.from);
    conditions.add_if("created_at < ?", filter.to);
    if let Some(AlarmKey { created_at, id }) = filter.after {
        let text = "created_at <= ? AND (created_at < ? OR id < ?)";
        conditions.add(text, [created_at.into(), created_at.into(), id.into()]);
    }
    let (filter_text, values) = conditions.finish_page(filter.limit);
    // Few are open; without statistics SQLite would walk over all for the order.
    let by_index = if filter.open == Some(true) { "{by_index alarm_open}" } else { "" };
    let text = format!(
        "SELECT id, kind, job_id, run_id, message, created_at, open_at, level, escalated_at, closed_at FROM alarm{by_index}{filter_text} \
         ORDER BY created_at DESC, id DESC LIMIT ?"
    );
    (text, values)
}

/// An alarm as it is written, and its row.
pub(super) fn row(id: i64, alarm: Alarm, is_open: bool, now: Millis) -> (Alarm, Vec<Value>) {
    let alarm = Alarm { text: printable(&alarm.text), ..alarm };
    let values = vec![
        id.into(),
        // The column takes no NULL, and no job has this id.
        alarm.job_id.unwrap_or(0).into(),
        alarm.run_id.into(),
        alarm.kind.as_str().into(),
        alarm.text.as_str().into(),
        now.into(),
        is_open.then_some(now).into(),
        // Until the alert rules have been matched with it.
        now.into(),
    ];
    (alarm, values)
}

impl FromQueryResult for AlarmRow {
    fn from_query_result(row: &QueryResult, pre: &str) -> std::result::Result<Self, DbErr> {
        let open_at: Option<Millis> = row.try_get(pre, "open_at")?;
        Ok(Self {
            id: row.try_get(pre, "id")?,
            alarm: Alarm {
                kind: row.try_get::<Word<_>>(pre, "kind")?.0,
                job_id: Some(row.try_get(pre, "job_id")?).filter(|id| *id != 0),
                run_id: row.try_get(pre, "run_id")?,
                text: row.try_get(pre, "message")?,
            },
            created_at: row.try_get(pre, "created_at")?,
            is_open: open_at.is_some(),
            level: row.try_get(pre, "level")?,
            escalated_at: row.try_get(pre, "escalated_at")?,
            closed_at: row.try_get(pre, "closed_at")?,
        })
    }
}
