//! Many rows, by SQL.

use carillon_scheduler::{Clock as _, SystemClock};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};

use crate::Options;

/// The numbers from 1 to `count` as a table `n(i)`.
fn numbers(backend: DbBackend, count: i64) -> String {
    match backend {
        DbBackend::Postgres => format!("generate_series(1, CAST({count} AS BIGINT)) AS n(i)"),
        DbBackend::MySql => format!("(SELECT seq AS i FROM seq_1_to_{count}) AS n"),
        _ => format!(
            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i FROM n) AS n"
        ),
    }
}

/// Copies of the first job, of which every fiftieth is paused, and their runs, which have ended within twenty days: every fiftieth failed.
pub async fn fill(db: &DatabaseConnection, options: &Options) {
    let (jobs, runs) = (options.jobs, options.runs);
    let backend = db.get_database_backend();
    let list = match backend {
        DbBackend::Sqlite => "SELECT name FROM pragma_table_info('job')",
        DbBackend::Postgres => "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'job'",
        _ => {
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'job' AND table_schema = DATABASE()"
        }
    };
    let rows = db.query_all_raw(Statement::from_string(backend, list)).await.unwrap();
    let columns: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
    let first = "(SELECT MIN(id) FROM job)";
    let base = 1_000_000;
    let value = |column: &String| match column.as_str() {
        "id" => format!("{base} + n.i"),
        "shard" => format!("({base} + n.i) % 8"),
        "name" if backend == DbBackend::MySql => "CONCAT('job ', n.i)".to_owned(),
        "name" => "'job ' || n.i".to_owned(),
        "enabled" => "n.i % 50 <> 0".to_owned(),
        other => format!("job.{other}"),
    };
    let job = match jobs {
        0 => first.to_owned(),
        jobs => format!("{base} + 1 + n.i * 7919 % {jobs}"),
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let from = format!("FROM {}", numbers(backend, jobs));
    let now = SystemClock::new().now();
    let age = 20 * 86_400_000_i64;
    let end = now - options.aged * 86_400_000;
    let at = format!("{end} - {age} + n.i * {age} / {}", runs.max(1));
    let texts = [
        format!(
            "INSERT INTO job ({}) SELECT {} {from} JOIN job ON job.id = {first}",
            columns.join(", "),
            values.join(", ")
        ),
        format!("INSERT INTO job_params (job_id, params) SELECT {base} + n.i, '' {from}"),
        format!(
            "INSERT INTO job_clock (shard, next_fire_at, job_id, revision) SELECT ({base} + n.i) % 8, c.next_fire_at, {base} + n.i, \
             c.revision {from} JOIN (SELECT * FROM job_clock WHERE job_id = {first}) AS c ON n.i % 50 <> 0"
        ),
        format!(
            "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, \
             finished_at) SELECT n.i, job.id, job.app_id, job.shard, 0, {at}, 0, 1, 1, {at}, {at}, \
             CASE WHEN n.i % 50 = 0 THEN 10 ELSE 9 END, 1, 1, {at} FROM {} JOIN job ON job.id = {job}",
            numbers(backend, runs)
        ),
        format!("UPDATE id_block SET next = {} WHERE name <> 'delayed'", base + jobs + runs + 1000),
        // The reports count old runs before they are deleted; here they have.
        format!("UPDATE report_cursor SET run_id = {}", if options.aged > 0 { runs } else { 0 }),
    ];
    for (index, text) in texts.iter().enumerate() {
        if index < 3 && jobs == 0 || index == 3 && runs == 0 {
            continue;
        }
        db.execute_unprepared(text).await.unwrap();
    }
    match backend {
        DbBackend::Postgres => drop(db.execute_unprepared("VACUUM ANALYZE").await.unwrap()),
        DbBackend::Sqlite => drop(db.execute_unprepared("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap()),
        _ => {}
    }
}
