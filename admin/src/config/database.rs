//! Which database, read from its URL.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::problem::Problem;

const SETTING: &str = "database-url";
const EXAMPLES: &str =
    "write sqlite:PATH, postgres://user:password@host:5432/name or mysql://user:password@host:3306/name";

/// Where jobs and runs are stored. The `Debug` form shows no password.
#[derive(Clone, PartialEq, Eq)]
pub enum Database {
    /// A file of this node alone.
    Sqlite {
        /// The file; created when missing.
        path: PathBuf,
    },
    /// PostgreSQL, shared by all nodes.
    Postgres {
        /// `postgres://…`, password included.
        url: String,
    },
    /// MySQL or MariaDB, shared by all nodes.
    Mysql {
        /// `mysql://…`, password included.
        url: String,
    },
}

impl Database {
    /// The SQLite file that is used when no URL is given.
    pub fn in_folder(data_dir: &Path) -> Self {
        Self::Sqlite { path: data_dir.join("carillon.db") }
    }

    /// Reads `sqlite:PATH`, `postgres://…`, `postgresql://…`, `mysql://…` or `mariadb://…`.
    ///
    /// # Errors
    ///
    /// Another scheme, a missing host or database name, or SQLite in memory. The message leaves the password out.
    pub fn parse(url: &str) -> Result<Self, Problem> {
        let wrong = |what: &str| Problem::new(SETTING, format!("{what}; {EXAMPLES}"));
        let Some((scheme, rest)) = url.split_once(':') else {
            return Err(wrong("this is no URL"));
        };
        match scheme {
            "sqlite" => sqlite(rest.strip_prefix("//").unwrap_or(rest)),
            "postgres" | "postgresql" => {
                Ok(Self::Postgres { url: server(url, "postgres", rest).map_err(|w| wrong(&w))? })
            }
            "mysql" | "mariadb" => Ok(Self::Mysql { url: server(url, "mysql", rest).map_err(|w| wrong(&w))? }),
            other => Err(wrong(&format!("`{other}` is no database that Carillon knows"))),
        }
    }

    /// Whether several nodes can share it.
    pub fn is_shared(&self) -> bool {
        !matches!(self, Self::Sqlite { .. })
    }

    /// Host and port of a server, as its driver reads them; None: it is no server, or reached by a socket of this machine.
    pub fn address(&self) -> Option<(String, u16)> {
        let (url, default) = match self {
            Self::Sqlite { .. } => return None,
            Self::Postgres { url } => (url, 5432),
            Self::Mysql { url } => (url, 3306),
        };
        let url = url::Url::parse(url).ok()?;
        let (mut host, mut port) = (url.host_str()?.to_owned(), url.port().unwrap_or(default));
        let options = url.query_pairs().filter(|_| matches!(self, Self::Postgres { .. }));
        for (name, value) in options {
            match &*name {
                "host" | "hostaddr" => host = value.into_owned(),
                "port" => port = value.parse().unwrap_or(port),
                _ => {}
            }
        }
        (!host.starts_with('/')).then_some((host, port))
    }

    /// The name people use for it.
    pub fn product(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SQLite",
            Self::Postgres { .. } => "PostgreSQL",
            Self::Mysql { .. } => "MySQL",
        }
    }
}

fn sqlite(path: &str) -> Result<Database, Problem> {
    let wrong = |what: &str| {
        Err(Problem::new(SETTING, format!("{what}; write sqlite:PATH, such as sqlite:/srv/carillon/carillon.db")))
    };
    match path {
        "" => wrong("the path of the SQLite file is missing"),
        ":memory:" => wrong("a database in memory would forget every job at the end"),
        // How the file is opened decides whether an acknowledged result survives: that is not left to a query string.
        path if path.contains('?') => wrong("options after `?` are not taken for SQLite"),
        path => Ok(Database::Sqlite { path: PathBuf::from(path) }),
    }
}

/// Checks `//[user[:password]@]host[:port]/name[?options]` and gives the URL back with one spelling of the scheme.
fn server(url: &str, scheme: &str, rest: &str) -> Result<String, String> {
    let parsed = url::Url::parse(url).map_err(|error| format!("this is no URL ({error})"))?;
    if parsed.host_str().is_none_or(str::is_empty) {
        return Err("the host is missing".to_owned());
    }
    if parsed.path().trim_matches('/').is_empty() {
        return Err("the name of the database is missing at the end".to_owned());
    }
    Ok(format!("{scheme}:{rest}"))
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// For log lines: host, port and name, never user or password.
impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match self {
            Self::Sqlite { path } => return write!(f, "SQLite {}", path.display()),
            Self::Postgres { url } | Self::Mysql { url } => url,
        };
        match url::Url::parse(url) {
            Ok(url) => {
                write!(f, "{} at {}", self.product(), url.host_str().unwrap_or_default())?;
                if let Some(port) = url.port() {
                    write!(f, ":{port}")?;
                }
                f.write_str(url.path())
            }
            Err(_) => f.write_str(self.product()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_the_three_databases_are_read() {
        assert_eq!(Database::parse("sqlite:/a/b.db"), Ok(Database::Sqlite { path: "/a/b.db".into() }));
        assert_eq!(Database::parse("sqlite://b.db"), Ok(Database::Sqlite { path: "b.db".into() }));
        for (given, kept) in [
            ("postgresql://u:p@h/d", Database::Postgres { url: "postgres://u:p@h/d".into() }),
            (
                "postgres://h:5433/d?sslmode=require",
                Database::Postgres { url: "postgres://h:5433/d?sslmode=require".into() },
            ),
            ("mariadb://u@h/d", Database::Mysql { url: "mysql://u@h/d".into() }),
        ] {
            assert_eq!(Database::parse(given), Ok(kept), "{given}");
        }
    }

    #[test]
    fn a_wrong_url_is_named_with_what_would_be_right_and_without_its_password() {
        for (given, complaint) in [
            ("", "no URL"),
            ("oracle://h/d", "`oracle` is no database"),
            ("postgres://u:geheim@/d", "no URL"),
            ("mysql://u:geheim@h", "name of the database is missing"),
            ("sqlite:", "path of the SQLite file is missing"),
            ("sqlite::memory:", "in memory"),
            ("sqlite:a.db?mode=rwc", "options after `?`"),
        ] {
            let problem = Database::parse(given).unwrap_err().to_string();
            assert!(problem.starts_with("--database-url (CARILLON_DATABASE_URL): "), "{problem}");
            assert!(problem.contains(complaint), "{given}: {problem}");
            assert!(problem.contains("write "), "{problem}");
            assert!(!problem.contains("geheim"), "{problem}");
        }
    }

    // covers: S34
    #[test]
    fn what_is_logged_holds_no_password() {
        let database = Database::parse("postgres://user:geheim@db.example:5433/jobs").unwrap();
        assert_eq!(database.to_string(), "PostgreSQL at db.example:5433/jobs");
        assert_eq!(format!("{database:?}"), database.to_string());
    }
}
