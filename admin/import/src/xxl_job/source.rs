//! The database of xxl-job's admin: read only, and all of it at one moment.

use std::time::Duration;

use foldhash::HashMap;
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use url::Url;

use super::error::Error;
use super::rows::{GroupRow, JobRow, Texts, UserRow};
use super::shape::{Columns, Shape};

/// What the database holds.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name under which imports from it are remembered.
    pub name: String,
    pub shape: Shape,
    pub groups: Vec<GroupRow>,
    pub jobs: Vec<JobRow>,
    pub users: Vec<UserRow>,
    /// The greatest number of a run.
    pub last_log_id: i64,
    /// Executors that have sent a heartbeat within the last 90 s, by app.
    pub live: HashMap<String, usize>,
    /// Runs of the last seven days that were accepted and have no result, by job.
    pub open_runs: HashMap<i64, usize>,
}

/// A connection to it. There is one alone, so that all that is read lies in one snapshot.
pub struct SourceDatabase {
    db: DatabaseConnection,
    /// Host and port, or the socket.
    server: String,
}

impl SourceDatabase {
    /// # Errors
    /// The address is none of MySQL, or the server does not answer.
    pub async fn connect(address: &str) -> Result<Self, Error> {
        Self::connect_within(address, TIMEOUT).await
    }

    /// With another limit on each answer of the server.
    ///
    /// # Errors
    /// The address is none of MySQL, or the server does not answer.
    pub async fn connect_within(address: &str, limit: Duration) -> Result<Self, Error> {
        let right = "write mysql://user:password@host:3306/xxl_job, for MariaDB too";
        let url = Url::parse(address).map_err(|error| Error::Input(format!("--from: {error}; {right}")))?;
        if url.scheme() != "mysql" || url.path().trim_matches('/').is_empty() {
            let text = format!("--from: {}:// is no address of a database of xxl-job; {right}", url.scheme());
            return Err(Error::Input(text));
        }
        let mut options = ConnectOptions::new(address);
        options.max_connections(1).min_connections(1).sqlx_logging(false);
        options.connect_timeout(limit).acquire_timeout(limit);
        let server = server(&url);
        match Database::connect(options).await {
            Ok(db) => Ok(Self { db, server }),
            Err(error) => Err(Error::from(error).of_server(&server)),
        }
    }

    /// Reads all in one snapshot. `name`: under which imports are remembered; None: that of the database.
    ///
    /// # Errors
    /// The tables are not those of an xxl-job admin, or may not be read.
    pub async fn read(&self, name: Option<&str>) -> Result<Source, Error> {
        self.read_snapshot(name).await.map_err(|error| error.of_server(&self.server))
    }

    async fn read_snapshot(&self, name: Option<&str>) -> Result<Source, Error> {
        // Under another level the snapshot would not last.
        self.db.execute_unprepared("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await?;
        self.db.execute_unprepared("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").await?;
        let found = Source::read_snapshot(&self.db, name).await;
        self.db.execute_unprepared("ROLLBACK").await?;
        found
    }

    /// What is planned now: the numbers, schedules and instants of the jobs; other members are empty.
    ///
    /// # Errors
    /// The server does not answer, or the tables may not be read.
    pub async fn read_jobs(&self, shape: Shape) -> Result<Vec<JobRow>, Error> {
        let is_old = shape == Shape::V22;
        let (kind, conf) = if is_old { ("'CRON'", "job_cron") } else { ("schedule_type", "schedule_conf") };
        let wanted = ["id", kind, conf, "trigger_status", "trigger_last_time", "trigger_next_time"];
        let job = |row: &Texts| JobRow {
            id: row.number(0),
            schedule_type: row.trimmed(1),
            schedule_conf: if is_old { row.trimmed(2) } else { row.text(2) },
            is_running: row.number(3) == 1,
            last_at: row.number(4),
            next_at: row.number(5),
            ..JobRow::default()
        };
        let rows = texts(&self.db, &wanted, "FROM xxl_job_info ORDER BY id").await;
        Ok(rows.map_err(|error| error.of_server(&self.server))?.iter().map(job).collect())
    }

    /// Ends the connection.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn close(self) -> Result<(), Error> {
        Ok(self.db.close().await?)
    }
}

/// For the server's answer to a connection.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Host and port of an address, or its socket.
fn server(url: &Url) -> String {
    let socket = url.query_pairs().find(|(name, _)| name == "socket");
    let host = url.host_str().unwrap_or_default();
    socket.map_or_else(|| format!("{host}:{}", url.port().unwrap_or(3306)), |(_, path)| path.into_owned())
}

async fn texts(db: &DatabaseConnection, columns: &[&str], rest: &str) -> Result<Vec<Texts>, Error> {
    // Types differ by server and release (`int(11)`, `int`, `tinyint(1)`); a text is a text everywhere.
    let list: Vec<String> = columns.iter().map(|column| format!("CAST({column} AS CHAR)")).collect();
    let statement = Statement::from_string(DbBackend::MySql, format!("SELECT {} {rest}", list.join(", ")));
    let rows = db.query_all_raw(statement).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let values: Result<Vec<Option<String>>, _> = (0..columns.len()).map(|at| row.try_get_by_index(at)).collect();
        found.push(Texts(values?));
    }
    Ok(found)
}

impl Source {
    async fn read_snapshot(db: &DatabaseConnection, name: Option<&str>) -> Result<Self, Error> {
        let (database, columns) = columns(db).await?;
        let shape = Shape::of(&columns)?;
        let groups = groups(db, &columns).await?;
        let jobs = Self::jobs(db, &columns).await?;
        let users = users(db).await?;
        let last = last_log_id(db).await?;
        let live = texts(
            db,
            &["registry_key", "COUNT(DISTINCT registry_value)"],
            "FROM xxl_job_registry WHERE registry_group = 'EXECUTOR' AND update_time > (SELECT MAX(update_time) FROM xxl_job_registry) - INTERVAL 90 SECOND GROUP BY registry_key",
        );
        let live = match columns.contains_key("xxl_job_registry") {
            true => live.await?.iter().map(|row| (row.text(0), row.number(1) as usize)).collect(),
            false => HashMap::default(),
        };
        let open = texts(
            db,
            &["job_id", "COUNT(*)"],
            "FROM xxl_job_log WHERE trigger_code = 200 AND handle_code = 0 AND trigger_time > (SELECT MAX(trigger_time) FROM xxl_job_log) - INTERVAL 7 DAY GROUP BY job_id",
        )
        .await?;
        Ok(Self {
            name: name.map_or(database, str::to_owned),
            shape,
            groups,
            jobs,
            users,
            last_log_id: last,
            live,
            open_runs: open.iter().map(|row| (row.number(0), row.number(1) as usize)).collect(),
        })
    }

    async fn jobs(db: &DatabaseConnection, columns: &Columns) -> Result<Vec<JobRow>, Error> {
        let there = |column: &'static str| if columns["xxl_job_info"].contains_key(column) { column } else { "NULL" };
        let name = if columns["xxl_job_info"].contains_key("name") { "name" } else { "job_desc" };
        let wanted = [
            "id",
            "job_group",
            name,
            there("author"),
            there("alarm_email"),
            there("schedule_type"),
            there("schedule_conf"),
            there("job_cron"),
            there("misfire_strategy"),
            "executor_route_strategy",
            "executor_handler",
            "executor_param",
            "executor_block_strategy",
            "executor_timeout",
            "executor_fail_retry_count",
            "glue_type",
            "child_jobid",
            "trigger_status",
            "trigger_last_time",
            "trigger_next_time",
            there("glue_source"),
            there("glue_remark"),
        ];
        let is_old = !columns["xxl_job_info"].contains_key("schedule_type");
        let job = |row: &Texts| {
            let job_cron = row.trimmed(7);
            let (schedule_type, schedule_conf) = match is_old {
                true => ("CRON".to_owned(), job_cron.clone()),
                // A period is read as Java reads it, to the blank.
                false => (row.trimmed(5), row.text(6)),
            };
            JobRow {
                id: row.number(0),
                group: row.number(1),
                name: row.text(2),
                author: row.trimmed(3),
                alarm_email: row.trimmed(4),
                schedule_type,
                schedule_conf,
                job_cron: if is_old { String::new() } else { job_cron },
                misfire: if is_old { "DO_NOTHING".to_owned() } else { row.trimmed(8) },
                route: row.trimmed(9),
                handler: row.text(10),
                params: row.text(11),
                block: row.trimmed(12),
                timeout: row.number(13),
                retries: row.number(14),
                glue_type: row.trimmed(15),
                glue_source: row.text(20),
                glue_remark: row.trimmed(21),
                children: row.text(16),
                is_running: row.number(17) == 1,
                last_at: row.number(18),
                next_at: row.number(19),
            }
        };
        Ok(texts(db, &wanted, "FROM xxl_job_info ORDER BY id").await?.iter().map(job).collect())
    }
}

/// Ids that a log may have. A script in a browser must keep them exact, and so must what is added to them.
const MOST_LOG_ID: i64 = 1 << 52;

/// The greatest number that a run has had, also if the log was cleared.
///
/// # Errors
/// No numbers would be left here.
async fn last_log_id(db: &DatabaseConnection) -> Result<i64, Error> {
    let greatest = texts(db, &["MAX(id)"], "FROM xxl_job_log").await?;
    let next = "FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'xxl_job_log'";
    // The server may have an old value, which is too small at most.
    let next = texts(db, &["auto_increment"], next).await?;
    let number = |rows: Vec<Texts>| rows.first().map_or(0, |row| row.number(0));
    match number(greatest).max(number(next) - 1) {
        last if last > MOST_LOG_ID => {
            Err(Error::Source(format!("xxl_job_log has the id {last}: no ids are left for runs here")))
        }
        last => Ok(last.max(0)),
    }
}

/// The name of the database, and the columns of its tables. A unique key of the registry counts as one.
async fn columns(db: &DatabaseConnection) -> Result<(String, Columns), Error> {
    let name = texts(db, &["DATABASE()"], "").await?.first().map_or(String::new(), |row| row.text(0));
    let rest = "FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name LIKE 'xxl\\_job\\_%'";
    let mut columns = Columns::default();
    for row in texts(db, &["LOWER(table_name)", "LOWER(column_name)", "LOWER(data_type)"], rest).await? {
        columns.entry(row.text(0)).or_default().insert(row.text(1), row.text(2));
    }
    let rest = "FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'xxl_job_registry' \
                AND non_unique = 0 AND index_name <> 'PRIMARY'";
    if texts(db, &["COUNT(*)"], rest).await?.first().is_some_and(|row| row.number(0) > 0) {
        columns.entry("xxl_job_registry".to_owned()).or_default().insert("__unique".to_owned(), String::new());
    }
    Ok((name, columns))
}

async fn groups(db: &DatabaseConnection, columns: &Columns) -> Result<Vec<GroupRow>, Error> {
    let title = if columns["xxl_job_group"].contains_key("name") { "name" } else { "title" };
    let wanted = ["id", "app_name", title, "address_type", "address_list"];
    let group = |row: &Texts| GroupRow {
        id: row.number(0),
        app: row.trimmed(1),
        title: row.trimmed(2),
        is_manual: row.number(3) == 1,
        addresses: row.trimmed(4),
    };
    Ok(texts(db, &wanted, "FROM xxl_job_group ORDER BY id").await?.iter().map(group).collect())
}

async fn users(db: &DatabaseConnection) -> Result<Vec<UserRow>, Error> {
    let user = |row: &Texts| UserRow { name: row.trimmed(0), is_admin: row.number(1) == 1, permission: row.trimmed(2) };
    let rows = texts(db, &["username", "role", "permission"], "FROM xxl_job_user ORDER BY id").await?;
    Ok(rows.iter().map(user).collect())
}
