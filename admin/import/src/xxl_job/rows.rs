//! Rows of xxl-job's tables. Null, an empty text and blanks alike mean "nothing".

/// Of `xxl_job_group`.
#[derive(Clone, Debug, Default)]
pub struct GroupRow {
    pub id: i64,
    pub app: String,
    pub title: String,
    /// The addresses were entered by hand.
    pub is_manual: bool,
    pub addresses: String,
}

/// Of `xxl_job_info`.
#[derive(Clone, Debug, Default)]
pub struct JobRow {
    pub id: i64,
    pub group: i64,
    pub name: String,
    pub author: String,
    pub alarm_email: String,
    pub schedule_type: String,
    pub schedule_conf: String,
    /// What a release before 2.3 has left behind.
    pub job_cron: String,
    pub misfire: String,
    pub route: String,
    pub handler: String,
    pub params: String,
    pub block: String,
    pub timeout: i64,
    pub retries: i64,
    pub glue_type: String,
    pub glue_source: String,
    pub glue_remark: String,
    pub children: String,
    pub is_running: bool,
    /// The last and the next planned instant, UTC ms; 0: none.
    pub last_at: i64,
    pub next_at: i64,
}

/// Of `xxl_job_user`, without the password and the session.
#[derive(Clone, Debug, Default)]
pub struct UserRow {
    pub name: String,
    pub is_admin: bool,
    /// Ids of groups.
    pub permission: String,
}

/// A row as it comes: every column as text.
pub struct Texts(pub Vec<Option<String>>);

impl Texts {
    pub fn text(&self, at: usize) -> String {
        self.0.get(at).cloned().flatten().unwrap_or_default()
    }

    pub fn trimmed(&self, at: usize) -> String {
        self.text(at).trim().to_owned()
    }

    /// 0 for what is no number.
    pub fn number(&self, at: usize) -> i64 {
        self.trimmed(at).parse().unwrap_or(0)
    }
}
