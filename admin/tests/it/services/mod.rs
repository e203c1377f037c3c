//! A fresh database for each test, on the services that `make test` starts.
//!
//! [`databases!`] turns one test into three: on SQLite, PostgreSQL and MariaDB (which stands for MySQL).
//! [`TestDatabase::new`] is for a test that wants one of them, or two at once, and [`TestDatabase::empty`] for a test of the
//! migration.

/// The databases that everything must work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
    Mariadb,
}

/// One test function, three tests, each with a database of its own:
///
/// ```ignore
/// databases! {
///     async fn a_job_is_found_again(db: &TestDatabase) {
///         let store = Store::open(&db.store()).await.unwrap();
///         …
///     }
/// }
/// ```
///
/// They are called `a_job_is_found_again::sqlite`, `…::postgres` and `…::mariadb`.
macro_rules! databases {
    ($($(#[$attribute:meta])* async fn $name:ident($db:ident: &TestDatabase) $body:block)+) => {$(
        $(#[$attribute])*
        mod $name {
            use super::*;
            use $crate::services::{Kind, TestDatabase, on};

            async fn test($db: &TestDatabase) $body

            #[test]
            fn sqlite() {
                on(Kind::Sqlite, test);
            }

            #[test]
            fn postgres() {
                on(Kind::Postgres, test);
            }

            #[test]
            fn mariadb() {
                on(Kind::Mariadb, test);
            }
        }
    )+};
}

// After the macro, which they use.
mod template;
mod test_database;

pub use test_database::TestDatabase;

/// Runs `test` on a fresh, migrated database of that kind, in a runtime of its own.
pub fn on(kind: Kind, test: impl AsyncFnOnce(&TestDatabase)) {
    runtime().block_on(async {
        let database = TestDatabase::new(kind).await;
        test(&database).await;
    });
}

pub fn runtime() -> tokio::runtime::Runtime {
    runtime_builder().build().unwrap()
}

pub fn runtime_builder() -> tokio::runtime::Builder {
    // Which crypto is used is said once in a process; a later test finds it said.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    builder
}

/// The Redis of the tests. Tests that run at once share it: their keys must differ.
pub fn redis_url() -> String {
    setting("CARILLON_TEST_REDIS_URL")
}

/// What `make test` says about a service.
pub fn setting(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is not set: run `make test`, or take the environment that `make services` prints")
    })
}

mod tests {
    use super::*;

    #[test]
    fn the_redis_of_the_tests_answers() {
        let client = redis::Client::open(redis_url()).unwrap();
        let answer: String = runtime().block_on(async {
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            redis::cmd("PING").query_async(&mut connection).await.unwrap()
        });
        assert_eq!(answer, "PONG");
    }

    #[test]
    #[should_panic(expected = "run `make test`")]
    fn a_missing_service_is_a_failure() {
        setting("CARILLON_TEST_NO_SUCH_SERVICE");
    }
}
