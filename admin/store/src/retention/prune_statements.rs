//! The statement that finds and locks what may go.

use crate::db::dialect::Text;

/// From where, and with which lock.
macro_rules! lock_going {
    ($from:literal, $lock:literal) => {
        concat!(
            "SELECT r.id, r.job_id, r.app_id, r.cause, r.fire_no, r.part, r.attempt, r.state, r.scheduled_at FROM ",
            $from,
            " AND (r.state >= 9 OR r.state IN (3, 4) AND COALESCE(r.finished_at, r.due_at) < ?) \
             AND NOT EXISTS (SELECT 1 FROM run s WHERE s.fire_no = r.fire_no AND s.job_id = r.job_id AND s.cause = r.cause \
             AND NOT (s.state >= 9 OR s.state IN (3, 4) AND COALESCE(s.finished_at, s.due_at) < ?)) \
             AND NOT EXISTS (SELECT 1 FROM run p JOIN run q ON q.fire_no = p.fire_no AND q.job_id = p.job_id AND q.cause = p.cause \
             WHERE r.cause = 3 AND p.id = r.fire_no AND q.state < 9) ORDER BY r.id",
            $lock
        )
    };
}

/// By key: MariaDB would walk the whole table for `… WHERE id IN (SELECT …)`, and wait for every lock on its way.
pub(crate) const LOCK_GOING: Text = Text {
    sqlite: lock_going!("run r WHERE r.id IN (SELECT u.value FROM json_each(?) AS u)", ""),
    postgres: lock_going!("run r WHERE r.id IN (SELECT unnest(?::bigint[]))", " FOR UPDATE"),
    mysql: lock_going!(
        "JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$')) AS u STRAIGHT_JOIN run r FORCE INDEX (PRIMARY) ON r.id = u.id WHERE TRUE",
        " FOR UPDATE"
    ),
};
