//! The tables of xxl-job's admin, written from a description of their columns, with rows that hold odd values.

use carillon_import::xxl_job::{ImportOptions, Shape, Source, SourceDatabase};
use carillon_scheduler::Millis;
use sea_orm::{ConnectionTrait as _, DatabaseConnection};

use crate::services::{Kind, TestDatabase};

/// A whole minute, at which tests are.
pub const NOW: Millis = 1_760_000_040_000;
pub const ZONE: &str = "Asia/Shanghai";

pub const SHAPES: [Shape; 6] = [Shape::V22, Shape::V23, Shape::V25, Shape::V32, Shape::V34, Shape::V35];

/// A database of xxl-job on MariaDB.
pub struct XxlJob {
    pub database: TestDatabase,
    pub raw: DatabaseConnection,
    pub shape: Shape,
}

impl XxlJob {
    pub async fn new(shape: Shape) -> Self {
        let database = TestDatabase::empty(Kind::Mariadb).await;
        let raw = sea_orm::Database::connect(database.direct_url()).await.unwrap();
        let xxl = Self { database, raw, shape };
        for table in tables(shape) {
            xxl.sql(&table).await;
        }
        xxl
    }

    pub async fn sql(&self, text: &str) {
        self.raw.execute_unprepared(text).await.unwrap_or_else(|error| panic!("{error}: {text}"));
    }

    pub async fn read(&self) -> Source {
        let db = SourceDatabase::connect(&self.database.direct_url()).await.unwrap();
        let source = db.read(Some("xxl_job")).await.unwrap();
        db.close().await.unwrap();
        source
    }

    pub async fn group(&self, id: i64, app: &str, more: &str) {
        let title = if self.shape == Shape::V35 { "name" } else { "title" };
        let kind = if more.is_empty() { 0 } else { 1 };
        self.sql(&format!(
            "INSERT INTO xxl_job_group (id, app_name, {title}, address_type, address_list) VALUES ({id}, '{app}', 'The {app}', {kind}, '{more}')"
        ))
        .await;
    }

    /// A job that runs each minute, with these columns instead.
    pub async fn job(&self, id: i64, columns: &[(&str, &str)]) {
        let name = if self.shape == Shape::V35 { "name" } else { "job_desc" };
        let mut row = vec![
            ("id", id.to_string()),
            ("job_group", "1".into()),
            (name, format!("'Job {id}'")),
            ("author", "'anna'".into()),
            ("alarm_email", "''".into()),
            ("executor_route_strategy", "'FIRST'".into()),
            ("executor_handler", "'handle'".into()),
            ("executor_param", "'p'".into()),
            ("executor_block_strategy", "'SERIAL_EXECUTION'".into()),
            ("executor_timeout", "0".into()),
            ("executor_fail_retry_count", "0".into()),
            ("glue_type", "'BEAN'".into()),
            ("glue_updatetime", "'2025-01-01 00:00:00'".into()),
            ("child_jobid", "''".into()),
            ("trigger_status", "1".into()),
            ("trigger_last_time", "0".into()),
            ("trigger_next_time", (NOW + 60_000).to_string()),
        ];
        match self.shape {
            Shape::V22 => row.push(("job_cron", "'0 * * * * ?'".into())),
            _ => row.extend([
                ("schedule_type", "'CRON'".into()),
                ("schedule_conf", "'0 * * * * ?'".into()),
                ("misfire_strategy", "'DO_NOTHING'".into()),
            ]),
        }
        for (column, value) in columns {
            let column = if *column == "name" { name } else { column };
            match row.iter_mut().find(|(other, _)| *other == column) {
                Some(cell) => cell.1 = (*value).to_owned(),
                None => row.push((column, (*value).to_owned())),
            }
        }
        let names: Vec<&str> = row.iter().map(|(column, _)| *column).collect();
        let values: Vec<&str> = row.iter().map(|(_, value)| value.as_str()).collect();
        self.sql(&format!("INSERT INTO xxl_job_info ({}) VALUES ({})", names.join(", "), values.join(", "))).await;
    }

    /// Each odd value that a shape can hold, in jobs from 100 on; and `plain` ordinary jobs from 1000 on.
    pub async fn odd_jobs(&self, plain: i64) {
        self.group(1, "orders", "").await;
        self.group(2, "orders", "http://10.0.0.1:9999, http://10.0.0.2:9999/").await;
        self.group(3, "订单", "").await;
        self.group(4, "billing", "").await;
        for (id, columns) in ODD {
            self.job(*id, columns).await;
        }
        if self.shape != Shape::V22 {
            for (id, columns) in ODD_SCHEDULES {
                self.job(*id, columns).await;
            }
        }
        for id in 1000..1000 + plain {
            let (group, cron) = (if id % 2 == 0 { "1" } else { "4" }, format!("'{} * * * * ?'", id % 60));
            let conf = if self.shape == Shape::V22 { "job_cron" } else { "schedule_conf" };
            let next = (NOW + id % 60 * 1000 + if id % 60 == 0 { 60_000 } else { 0 }).to_string();
            self.job(id, &[("job_group", group), (conf, &cron), ("trigger_next_time", &next)]).await;
        }
        self.sql("INSERT INTO xxl_job_log (id, job_group, job_id, trigger_code, handle_code) VALUES (12345, 1, 100, 200, 200)").await;
        for (name, role, permission) in
            [("root", 1, "NULL"), ("bob", 0, "'1,4,99'"), ("cli", 1, "NULL"), ("eve", 0, "'99'")]
        {
            self.sql(&format!("INSERT INTO xxl_job_user (username, password, role, permission) VALUES ('{name}', '-', {role}, {permission})")).await;
        }
    }
}

type OddRow = (i64, &'static [(&'static str, &'static str)]);

/// In any shape.
const ODD: &[OddRow] = &[
    (100, &[]),
    (101, &[("name", "'two\nlines'"), ("author", "NULL"), ("executor_param", "NULL")]),
    (102, &[("executor_handler", "' handle '")]),
    (103, &[("executor_route_strategy", "NULL")]),
    (104, &[("executor_route_strategy", "'ROUND'"), ("executor_block_strategy", "NULL")]),
    (105, &[("executor_timeout", "999999"), ("executor_fail_retry_count", "9999")]),
    (106, &[("executor_timeout", "-5"), ("executor_fail_retry_count", "-1")]),
    (107, &[("glue_type", "'GLUE_GROOVY'")]),
    (108, &[("glue_type", "'GLUE_SHELL'"), ("executor_handler", "''")]),
    (109, &[("child_jobid", "'100,109,100,777, 101'"), ("alarm_email", "'a@example.org, b@example.org'")]),
    (110, &[("child_jobid", "'111'"), ("executor_route_strategy", "'SHARDING_BROADCAST'")]),
    (111, &[("child_jobid", "'110'"), ("executor_param", "''")]),
    (112, &[("job_group", "77")]),
    (113, &[("job_group", "3")]),
    (114, &[("executor_block_strategy", "'PARALLEL'")]),
    (115, &[("trigger_status", "0"), ("trigger_next_time", "0")]),
    (116, &[("job_group", "2"), ("executor_route_strategy", "'CONSISTENT_HASH'")]),
    (117, &[("executor_handler", "''")]),
];

/// Of shapes that have types of schedules.
const ODD_SCHEDULES: &[OddRow] = &[
    (200, &[("schedule_type", "'NONE'"), ("schedule_conf", "''"), ("trigger_next_time", "0")]),
    (201, &[("schedule_type", "'FIX_RATE'"), ("schedule_conf", "'+45'"), ("trigger_next_time", "1760000062345")]),
    (202, &[("schedule_type", "'FIX_RATE'"), ("schedule_conf", "' 5'"), ("trigger_next_time", "0")]),
    (
        203,
        &[
            ("schedule_type", "'FIX_RATE'"),
            ("schedule_conf", "'60'"),
            ("trigger_status", "0"),
            ("trigger_next_time", "0"),
        ],
    ),
    (204, &[("schedule_type", "'FIX_DELAY'"), ("schedule_conf", "'60'"), ("trigger_next_time", "0")]),
    (205, &[("schedule_conf", "'0 0 0 1 1 ? 2020'"), ("trigger_next_time", "0")]),
    (206, &[("schedule_conf", "'0 0 12 ? * MON/2'"), ("trigger_next_time", "0")]),
    (207, &[("schedule_conf", "'0 0 12 * *'"), ("trigger_next_time", "0")]),
    (208, &[("misfire_strategy", "'FIRE_ONCE_NOW'")]),
    (209, &[("misfire_strategy", "'FIRE_TWICE'")]),
];

pub fn options() -> ImportOptions {
    ImportOptions {
        zone: ZONE.into(),
        exact: false,
        scripts: false,
        users: false,
        trust_zone: false,
        keep_here: false,
        now: NOW,
    }
}

fn tables(shape: Shape) -> Vec<String> {
    let since = |first: Shape, text: &'static str| if shape as u8 >= first as u8 { text } else { "" };
    let until = |last: Shape, text: &'static str| if shape as u8 <= last as u8 { text } else { "" };
    let is_new = shape == Shape::V35;
    let param = if shape as u8 >= Shape::V34 as u8 { "text" } else { "varchar(512)" };
    let (name, title) = if is_new { ("name", "name varchar(64)") } else { ("job_desc", "title varchar(64)") };
    vec![
        format!(
            "CREATE TABLE xxl_job_info (id int(11) NOT NULL AUTO_INCREMENT PRIMARY KEY, job_group int(11) NOT NULL, {}{name} varchar(255) NOT NULL, \
             add_time datetime, update_time datetime, author varchar(64), alarm_email varchar(255), {}executor_route_strategy varchar(50), \
             executor_handler varchar(255), executor_param {param}, executor_block_strategy varchar(50), executor_timeout int(11) NOT NULL DEFAULT 0, \
             executor_fail_retry_count int(11) NOT NULL DEFAULT 0, glue_type varchar(50) NOT NULL, glue_source mediumtext, glue_remark varchar(128), \
             glue_updatetime datetime, child_jobid varchar(255), trigger_status tinyint(4) NOT NULL DEFAULT 0, trigger_last_time bigint(13) NOT NULL \
             DEFAULT 0, trigger_next_time bigint(13) NOT NULL DEFAULT 0) DEFAULT CHARSET=utf8mb4",
            until(Shape::V22, "job_cron varchar(128) NOT NULL, "),
            since(
                Shape::V23,
                "schedule_type varchar(50) NOT NULL DEFAULT 'NONE', schedule_conf varchar(128), misfire_strategy varchar(50) NOT NULL DEFAULT 'DO_NOTHING', "
            ),
        ),
        format!(
            "CREATE TABLE xxl_job_group (id int(11) NOT NULL AUTO_INCREMENT PRIMARY KEY, app_name varchar(64) NOT NULL, {title} NOT NULL, \
             address_type tinyint(4) NOT NULL DEFAULT 0, address_list {}{}) DEFAULT CHARSET=utf8mb4",
            if shape == Shape::V22 { "varchar(512)" } else { "text, update_time datetime" },
            since(Shape::V35, ", access_token varchar(64)"),
        ),
        format!(
            "CREATE TABLE xxl_job_user (id int(11) NOT NULL AUTO_INCREMENT PRIMARY KEY, username varchar(50) NOT NULL, password varchar(100) NOT NULL, \
             {}role tinyint(4) NOT NULL, permission varchar(255)) DEFAULT CHARSET=utf8mb4",
            since(Shape::V32, "token varchar(100), "),
        ),
        format!(
            "CREATE TABLE xxl_job_registry (id int(11) NOT NULL AUTO_INCREMENT PRIMARY KEY, registry_group varchar(50) NOT NULL, registry_key varchar(255) \
             NOT NULL, registry_value varchar(255) NOT NULL, update_time datetime{}) DEFAULT CHARSET=latin1",
            since(Shape::V25, ", UNIQUE KEY i_g_k_v (registry_group, registry_key, registry_value)"),
        ),
        "CREATE TABLE xxl_job_log (id bigint(20) NOT NULL AUTO_INCREMENT PRIMARY KEY, job_group int(11) NOT NULL, job_id int(11) NOT NULL, \
         trigger_time datetime, trigger_code int(11) NOT NULL, handle_code int(11) NOT NULL) DEFAULT CHARSET=utf8mb4"
            .to_owned(),
        "CREATE TABLE xxl_job_lock (lock_name varchar(50) NOT NULL PRIMARY KEY)".to_owned(),
    ]
}

/// In the zone of the JVM.
pub fn cron(expression: &str) -> carillon_scheduler::ScheduleDraft {
    use carillon_scheduler::{ClockChanges, CronDraft, KindDraft};
    let clock_changes = ClockChanges::Xxl;
    KindDraft::Cron(CronDraft { clock_changes, ..CronDraft::new(expression, ZONE) }).into()
}
