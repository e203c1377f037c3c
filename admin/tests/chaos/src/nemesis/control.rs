//! What the checker must find: a cluster whose database does not keep what the engine relies on. The product is the same;
//! triggers take the guard away, so no line of it has to know of a control.

use anyhow::ensure;

use crate::cluster::Cluster;
use crate::options::{Control, Db, Options};

/// Breaks the database as the options say, before anything else happens.
pub async fn apply(cluster: &Cluster, options: &Options) -> anyhow::Result<()> {
    ensure!(
        options.control == Control::None || options.db != Db::Sqlite,
        "a control needs several nodes: choose --db postgres or --db mariadb"
    );
    for statement in statements(options.control, options.db) {
        cluster.database.execute(&statement).await?;
    }
    Ok(())
}

fn statements(control: Control, db: Db) -> Vec<String> {
    match control {
        Control::None => vec![],
        // Every lease is over at once and its epoch never changes, so the Redis lock alone decides who works; and a mark
        // leaves no trace in the state, so it does not keep a second holder from sending.
        Control::RedisLockOnly => [
            // Above 0, which is the epoch of runs that no holder has adopted.
            vec!["UPDATE shard_lease SET epoch = epoch + 1".to_owned()],
            before_update(db, "shard_lease", &[("epoch", "OLD.epoch"), ("expires_at", "0")]),
            before_update(
                db,
                "run",
                &[("state", "CASE WHEN OLD.state = 0 AND NEW.state = 1 THEN OLD.state ELSE NEW.state END")],
            ),
        ]
        .concat(),
        // As if an instant were recorded when it is sent: what its planner has not sent is forgotten with the planner.
        Control::RecordAtSend => after_update(
            db,
            "shard_lease",
            "DELETE FROM run WHERE NEW.epoch > OLD.epoch AND shard = NEW.shard AND epoch < NEW.epoch AND epoch > 0 \
             AND state = 0 AND cause = 0 AND attempt = 1",
        ),
        // As if an edit had deleted a recorded run without giving its fire back.
        Control::FireTaken => {
            before_update(db, "job", &[("fires_left", "CASE WHEN NEW.fires_left = 10 THEN 9 ELSE NEW.fires_left END")])
        }
    }
}

/// Gives columns of each updated row these values.
fn before_update(db: Db, table: &str, values: &[(&str, &str)]) -> Vec<String> {
    let set = |to: &str, end: &str| -> String {
        values.iter().map(|(column, value)| format!("NEW.{column} {to} {value}{end}")).collect()
    };
    match db {
        Db::Mariadb => vec![format!(
            "CREATE TRIGGER control_{table} BEFORE UPDATE ON {table} FOR EACH ROW SET {}",
            set("=", ", ").trim_end_matches(", ")
        )],
        _ => vec![
            format!(
                "CREATE FUNCTION control_{table}() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN {} RETURN NEW; END $$",
                set(":=", "; ")
            ),
            format!(
                "CREATE TRIGGER control_{table} BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION control_{table}()"
            ),
        ],
    }
}

/// Does this after each update of a row.
fn after_update(db: Db, table: &str, statement: &str) -> Vec<String> {
    match db {
        Db::Mariadb => vec![format!("CREATE TRIGGER control_after AFTER UPDATE ON {table} FOR EACH ROW {statement}")],
        _ => vec![
            format!(
                "CREATE FUNCTION control_after() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {statement}; RETURN NULL; END $$"
            ),
            format!(
                "CREATE TRIGGER control_after AFTER UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION control_after()"
            ),
        ],
    }
}
