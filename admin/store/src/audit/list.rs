//! Reading the audit.

use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use sea_orm::{FromQueryResult, Value};

use crate::db::sql::filter::{Conditions, Page};
use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::views::AuditStore;

/// An entry of the audit.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct AuditRow {
    pub id: i64,
    pub at: Millis,
    pub actor: String,
    /// The actor's account.
    pub actor_id: Option<i64>,
    /// The personal token that stood for the account.
    pub token: Option<String>,
    pub source: String,
    pub action: String,
    pub object: String,
    pub object_id: i64,
    /// What the object is called now; None: it is gone, or has no name.
    pub object_name: Option<String>,
    pub app_id: Option<i64>,
    pub app: Option<String>,
    pub request_id: Option<String>,
    /// JSON: `before` and `after` with the members that differ, and what else belongs to the action.
    pub detail: String,
}

impl AuditRow {
    pub fn key(&self) -> AuditKey {
        AuditKey { at: self.at, id: self.id }
    }
}

/// The place of an entry in the list. Nodes take ids in blocks, so ids alone are not in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditKey {
    pub at: Millis,
    pub id: i64,
}

impl std::fmt::Display for AuditKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.at, self.id)
    }
}

impl std::str::FromStr for AuditKey {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (at, id) = text.split_once('-').ok_or(())?;
        Ok(Self { at: at.parse().map_err(drop)?, id: id.parse().map_err(drop)? })
    }
}

/// Which entries; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only those about objects of these apps; those about no app are for who sees all.
    pub apps: VisibleApps,
    /// The actor's whole name.
    pub actor: Option<String>,
    /// Any of these; empty: any at all.
    pub actions: Vec<AuditAction>,
    pub object: Option<AuditObjectKind>,
    pub object_id: Option<i64>,
    /// The app's name.
    pub app: Option<String>,
    /// The whole address.
    pub source: Option<String>,
    /// `from` ≤ `at` < `to`.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    /// Entries behind this one in the list.
    pub after: Option<AuditKey>,
    /// 1 to 1000.
    pub limit: u32,
}

impl AuditFilter {
    /// The newest entries about one object.
    pub fn about(object: AuditObjectKind, id: i64) -> Self {
        Self { object: Some(object), object_id: Some(id), limit: 100, ..Self::default() }
    }
}

impl AuditStore<'_> {
    /// Newest first, page by page.
    pub async fn list(self, filter: &AuditFilter) -> Result<Page<AuditRow, AuditKey>> {
        let (text, values) = list_text(filter);
        let rows = self.all(&self.read, &text, values).await?;
        Ok(Page::cut(rows, filter.limit, AuditRow::key))
    }
}

/// The rows are cut before anything is joined.
pub(crate) fn list_text(filter: &AuditFilter) -> (String, Vec<Value>) {
    let mut conditions = Conditions::default();
    conditions.visible(&filter.apps, "app_id");
    conditions.add_if("actor = ?", filter.actor.as_deref());
    conditions.among("action", filter.actions.iter().map(|action| action.as_str()));
    conditions.add_if("object = ?", filter.object.map(AuditObjectKind::as_str));
    conditions.add_if("object_id = ?", filter.object_id);
    conditions.add_if("app_id = (SELECT id FROM app WHERE name = ?)", filter.app.as_deref());
    conditions.add_if("source = ?", filter.source.as_deref());
    conditions.add_if("at >= ?", filter.from);
    conditions.add_if("at < ?", filter.to);
    if let Some(AuditKey { at, id }) = filter.after {
        conditions.add("at <= ? AND (at < ? OR id < ?)", [at.into(), at.into(), id.into()]);
    }
    let (filter_text, values) = conditions.finish_page(filter.limit);
    let text = format!(
        "SELECT e.id, e.at, e.actor, e.actor_id, e.token, e.source, e.action, e.object, e.object_id, \
         COALESCE(j.name, p.name, c.name) AS object_name, e.app_id, app.name AS app, e.request_id, e.detail \
         FROM (SELECT * FROM audit{filter_text} ORDER BY at DESC, id DESC LIMIT ?) AS e \
         LEFT JOIN app ON app.id = e.app_id LEFT JOIN job j ON e.object = 'job' AND j.id = e.object_id \
         LEFT JOIN account p ON e.object = 'account' AND p.id = e.object_id \
         LEFT JOIN calendar c ON e.object = 'calendar' AND c.id = e.object_id ORDER BY e.at DESC, e.id DESC"
    );
    (text, values)
}
