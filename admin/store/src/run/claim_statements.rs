//! The statements of a claim, in the form that costs least on each database: one array or JSON parameter a statement.

use sea_orm::{DbBackend, Value};

use crate::db::dialect::Text;
use crate::run::claim::{Claim, Holder};

/// Compare-and-set of the cursors. On SQLite the shard must come from the list, or the plan walks the whole shard.
pub const ADVANCE: Text = Text {
    sqlite: "UPDATE job_clock SET next_fire_at = u.value->>2 FROM json_each(?) AS u \
             WHERE job_clock.shard = u.value->>4 AND job_clock.next_fire_at = u.value->>1 \
             AND job_clock.job_id = u.value->>0 AND job_clock.revision = u.value->>3",
    postgres: "UPDATE job_clock SET next_fire_at = u.nw \
               FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS u(job_id, old, nw, rev) \
               WHERE job_clock.shard = ? AND job_clock.next_fire_at = u.old \
               AND job_clock.job_id = u.job_id AND job_clock.revision = u.rev",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (job_id BIGINT PATH '$[0]', old BIGINT PATH '$[1]', nw BIGINT PATH '$[2]', \
            rev BIGINT PATH '$[3]', shard INT PATH '$[4]')) AS u \
            STRAIGHT_JOIN job_clock FORCE INDEX (PRIMARY) ON job_clock.shard = u.shard AND job_clock.next_fire_at = u.old AND job_clock.job_id = u.job_id \
            SET job_clock.next_fire_at = u.nw WHERE job_clock.revision = u.rev",
};

/// Of the same list: which cursors are where their plans have found them.
pub const UNCHANGED: Text = Text {
    sqlite: "SELECT c.job_id FROM json_each(?) AS u CROSS JOIN job_clock AS c ON c.shard = u.value->>4 \
             AND c.next_fire_at = u.value->>1 AND c.job_id = u.value->>0 AND c.revision = u.value->>3",
    postgres: "SELECT c.job_id FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS u(job_id, old, nw, rev) \
               JOIN job_clock AS c ON c.shard = ? AND c.next_fire_at = u.old AND c.job_id = u.job_id AND c.revision = u.rev",
    mysql: "SELECT c.job_id FROM JSON_TABLE(?, '$[*]' COLUMNS (job_id BIGINT PATH '$[0]', old BIGINT PATH '$[1]', nw BIGINT PATH '$[2]', \
            rev BIGINT PATH '$[3]', shard INT PATH '$[4]')) AS u \
            STRAIGHT_JOIN job_clock AS c FORCE INDEX (PRIMARY) ON c.shard = u.shard AND c.next_fire_at = u.old AND c.job_id = u.job_id \
            WHERE c.revision = u.rev",
};

pub fn cursors(backend: DbBackend, shard: i32, claims: &[&Claim]) -> Vec<Value> {
    let mut rows: Vec<[i64; 4]> = claims
        .iter()
        .map(|c| [c.due.job_id, c.due.next_fire_at, c.next_fire_at.unwrap_or(i64::MAX), c.due.revision])
        .collect();
    rows.sort_unstable();
    if backend == DbBackend::Postgres {
        let column = |n: usize| Value::from(rows.iter().map(|row| row[n]).collect::<Vec<i64>>());
        return vec![column(0), column(1), column(2), column(3), shard.into()];
    }
    let rows: Vec<[i64; 5]> = rows.iter().map(|r| [r[0], r[1], r[2], r[3], i64::from(shard)]).collect();
    vec![json(&rows)]
}

/// The runs; what the job's row already holds comes from the job's row, so that only ids and instants travel.
pub const RECORD: Text = Text {
    sqlite: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, chained, parent) \
             SELECT u.value->>0, j.id, j.app_id, j.shard, 0, u.value->>2, 0, 1, 1, u.value->>2, u.value->>2, 0, ?, ?, 0, j.schedule_kind = 'fixed_delay', j.parent \
             FROM json_each(?) AS u CROSS JOIN job AS j ON j.id = u.value->>1",
    postgres: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, chained, parent) \
               SELECT u.id, j.id, j.app_id, j.shard, 0, u.t, 0, 1, 1, u.t, u.t, 0, ?, ?, 0, j.schedule_kind = 'fixed_delay', j.parent \
               FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, job_id, t) JOIN job j ON j.id = u.job_id",
    mysql: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, chained, parent) \
            SELECT u.id, j.id, j.app_id, j.shard, 0, u.t, 0, 1, 1, u.t, u.t, 0, ?, ?, 0, j.schedule_kind = 'fixed_delay', j.parent \
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', job_id BIGINT PATH '$[1]', t BIGINT PATH '$[2]')) AS u \
            STRAIGHT_JOIN job j FORCE INDEX (PRIMARY) ON j.id = u.job_id",
};

pub fn fires(backend: DbBackend, holder: &Holder<'_>, claims: &[Claim]) -> Vec<Value> {
    let mut rows: Vec<[i64; 3]> =
        claims.iter().flat_map(|claim| claim.fires.iter().map(|(id, at)| [*id, claim.due.job_id, *at])).collect();
    rows.sort_unstable();
    let mut values: Vec<Value> = vec![holder.epoch.into(), holder.node.into()];
    if backend == DbBackend::Postgres {
        values.extend((0..3).map(|n| Value::from(rows.iter().map(|row| row[n]).collect::<Vec<i64>>())));
    } else {
        values.push(json(&rows));
    }
    values
}

fn json<T: serde::Serialize>(rows: &T) -> Value {
    // Lists of integers always have a JSON form.
    Value::from(serde_json::to_string(rows).unwrap_or_default())
}
