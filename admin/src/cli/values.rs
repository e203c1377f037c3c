//! From the texts of `settings.rs` to a checked [`Config`].

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_admin::config::{AccessToken, Config, Database, Error, LogFormat, LostRule, Problem};

use super::settings::{DatabaseSettings, ServeSettings};

const DATA_DIR: &str = "carillon-data";

/// A checked configuration, and the file of the access token when none was given.
pub struct Settled {
    pub config: Config,
    pub token_file: Option<PathBuf>,
}

impl DatabaseSettings {
    fn folder(&self) -> PathBuf {
        PathBuf::from(self.data_dir.as_deref().unwrap_or(DATA_DIR))
    }

    /// Which database is meant.
    pub fn database(&self) -> Result<Database, Problem> {
        if self.data_dir.as_deref() == Some("") {
            let right = "it is empty; write the path of a folder, such as /var/lib/carillon";
            return Err(Problem::new("data-dir", right));
        }
        match &self.database_url {
            Some(url) => Database::parse(url),
            None => Ok(Database::in_folder(&self.folder())),
        }
    }
}

impl ServeSettings {
    /// All that is wrong with the settings. Writes nothing.
    pub fn problems(&self) -> Vec<Problem> {
        self.checked().err().map_or_else(Vec::new, |error| error.problems)
    }

    /// Understands and checks every setting. Writes nothing, but for the access token's file when all else is right.
    pub fn settle(self) -> Result<Settled, Error> {
        let mut config = self.checked()?;
        let found = AccessToken::find(self.access_token, &config.database, &config.data_dir)?;
        config.access_token = found.token;
        config.validate()?;
        Ok(Settled { config, token_file: found.file })
    }

    /// Every setting but an access token that is not given and not shared.
    fn checked(&self) -> Result<Config, Error> {
        let mut problems = Vec::new();
        let mut config = self.read(&mut problems);
        if let Some(given) = &self.access_token {
            config.access_token.clone_from(given);
        } else if config.database.is_shared() {
            let found = AccessToken::find(None, &config.database, &config.data_dir);
            problems.extend(found.err());
        }
        problems.extend(config.validate().err().into_iter().flat_map(|error| error.problems));
        match problems.is_empty() {
            true => Ok(config),
            false => Err(Error { problems }),
        }
    }

    /// Every setting but the access token, of which a random one takes the place. What cannot be read is put into
    /// `problems`, and its default taken.
    fn read(&self, problems: &mut Vec<Problem>) -> Config {
        let mut config = Config::new(self.database.folder(), random_secret());
        let mut put = |read: Result<(), Problem>| problems.extend(read.err());
        put(self.database.database().map(|database| config.database = database));
        put(listen("listen", &self.listen).map(|address| config.listen = address));
        if let Some(text) = &self.executor_listen {
            let read = listen("executor-listen", text);
            put(read.map(|address| config.executor_listen = Some(address)));
        }
        put(log_format(&self.log_format).map(|format| config.log_format = format));
        if let Some(shards) = &self.shards {
            put(number("shards", shards).map(|shards| config.shards = Some(shards)));
        }
        put(number("in-flight", &self.in_flight).map(|count| config.engine.in_flight = count));
        put(lost_rule(&self.lost_rule).map(|rule| config.engine.lost_rule = rule));
        put(time("look-ahead", &self.look_ahead).map(|time| config.engine.look_ahead = time));
        put(time("lease-ttl", &self.lease_ttl).map(|time| config.engine.lease_ttl = time));
        put(time("connect-timeout", &self.connect_timeout).map(|time| config.engine.connect_timeout = time));
        put(time("request-timeout", &self.request_timeout).map(|time| config.engine.request_timeout = time));
        put(time("flag-after", &self.flag_after).map(|time| config.engine.flag_after = time));
        put(time("escalate-after", &self.escalate_after).map(|time| config.engine.escalate_after = time));
        put(time("check-after", &self.check_after).map(|time| config.engine.check_after = time));
        config.insecure_http = self.insecure_http;
        config.no_migrate = self.no_migrate;
        config.redis_url.clone_from(&self.redis_url);
        config.redis_ca = self.redis_ca.as_ref().map(PathBuf::from);
        config.admin_password.clone_from(&self.admin_password);
        config.api_token.clone_from(&self.api_token);
        config
    }
}

fn listen(setting: &'static str, text: &str) -> Result<SocketAddr, Problem> {
    text.parse().map_err(|_| {
        let right = "write 127.0.0.1:8080, [::1]:8080 or the like";
        Problem::new(setting, format!("`{text}` is no IP address with a port; {right}"))
    })
}

fn log_format(text: &str) -> Result<LogFormat, Problem> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        other => Err(Problem::new("log-format", format!("`{other}` is no format; write text or json"))),
    }
}

fn lost_rule(text: &str) -> Result<LostRule, Problem> {
    match text {
        "lease" => Ok(LostRule::Lease),
        "xxl" => Ok(LostRule::Xxl),
        other => Err(Problem::new("lost-rule", format!("`{other}` is no rule; write lease or xxl"))),
    }
}

fn number<N: std::str::FromStr>(setting: &'static str, text: &str) -> Result<N, Problem> {
    text.parse().map_err(|_| Problem::new(setting, format!("`{text}` is no whole number; write one, such as 8")))
}

/// `500ms`, `5s` or `30m`. A bare number is refused: milliseconds or seconds would be a guess.
fn time(setting: &'static str, text: &str) -> Result<Duration, Problem> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        _ => None,
    };
    let millis = digits.parse::<u64>().ok().zip(unit).and_then(|(count, unit)| count.checked_mul(unit));
    millis.map(Duration::from_millis).ok_or_else(|| {
        let right = "write a whole number and its unit, such as 500ms or 5s";
        Problem::new(setting, format!("`{text}` is no time; {right}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: ServeSettings,
    }

    fn settle(folder: &std::path::Path, arguments: &[&str]) -> Result<Settled, Error> {
        let folder = folder.to_str().unwrap();
        let line = ["carillon", "--data-dir", folder].into_iter().chain(arguments.iter().copied());
        Line::parse_from(line).settings.settle()
    }

    fn complaint(arguments: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let error = settle(folder.path(), arguments).err().unwrap().to_string();
        let written = folder.path().join("access-token").exists();
        assert!(!written, "nothing is written when a setting is wrong");
        error
    }

    #[test]
    fn the_manuals_defaults_are_the_configs() {
        let folder = tempfile::tempdir().unwrap();
        let settled = settle(folder.path(), &[]).unwrap();
        let expected = Config::new(folder.path(), settled.config.access_token.clone());
        assert!(settled.config == expected);
        assert_eq!(settled.token_file, Some(folder.path().join("access-token")));
    }

    #[test]
    fn every_setting_arrives() {
        let folder = tempfile::tempdir().unwrap();
        let (token, other) = (random_secret(), random_secret());
        let text = format!(
            "--listen=[::]:9 --insecure-http --no-migrate --database-url=mysql://u@h/d --redis-url=redis://r:1/ \
             --shards=3 --access-token={token} --admin-password={other} --api-token={other} --log-format=json \
             --look-ahead=2s --lease-ttl=3s --connect-timeout=300ms --request-timeout=400ms --in-flight=5 --lost-rule=xxl \
             --flag-after=45s --escalate-after=10m"
        );
        let arguments: Vec<&str> = text.split_whitespace().collect();
        let settled = settle(folder.path(), &arguments).unwrap();
        let mut expected = Config::new(folder.path(), token);
        expected.listen = "[::]:9".parse().unwrap();
        (expected.insecure_http, expected.no_migrate) = (true, true);
        expected.database = Database::Mysql { url: "mysql://u@h/d".into() };
        (expected.redis_url, expected.shards) = (Some("redis://r:1/".into()), Some(3));
        (expected.admin_password, expected.api_token) = (Some(other.clone()), Some(other));
        (expected.log_format, expected.engine.in_flight) = (LogFormat::Json, 5);
        (expected.engine.look_ahead, expected.engine.lease_ttl) = (Duration::from_secs(2), Duration::from_secs(3));
        expected.engine.connect_timeout = Duration::from_millis(300);
        expected.engine.request_timeout = Duration::from_millis(400);
        expected.engine.lost_rule = LostRule::Xxl;
        (expected.engine.flag_after, expected.engine.escalate_after) =
            (Duration::from_secs(45), Duration::from_secs(600));
        assert!(settled.config == expected);
        assert_eq!(settled.token_file, None);
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_would_be_right() {
        for (argument, said) in [
            ("--listen=localhost", "--listen (CARILLON_LISTEN): `localhost` is no IP address with a port; write 127"),
            ("--log-format=xml", "--log-format (CARILLON_LOG_FORMAT): `xml` is no format; write text or json"),
            ("--shards=many", "--shards (CARILLON_SHARDS): `many` is no whole number; write one"),
            ("--look-ahead=5", "--look-ahead (CARILLON_LOOK_AHEAD): `5` is no time; write a whole number and its unit"),
            ("--lease-ttl=99999999999999999999s", "is no time"),
            ("--lease-ttl=9999999999999999999s", "is no time"),
            ("--database-url=postgres://h/d", "--access-token (CARILLON_ACCESS_TOKEN): it is required with PostgreSQL"),
            ("--access-token=", "--access-token (CARILLON_ACCESS_TOKEN): it is empty"),
            ("--redis-url=", "--redis-url (CARILLON_REDIS_URL): this is no URL of a Redis server"),
        ] {
            let complaint = complaint(&[argument]);
            assert!(complaint.contains(said), "{argument}: {complaint}");
            assert_eq!(complaint.lines().count(), 1, "{complaint}");
        }
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let wrong = ["--listen=x", "--in-flight=0", "--database-url=mysql://h/d", "--lease-ttl=1s"];
        let said = complaint(&wrong);
        assert!(said.starts_with("4 settings are wrong:\n  --listen"), "{said}");
        assert_eq!(said.lines().count(), 5, "{said}");
    }
}
