//! From the settings of the command line to a checked [`Config`].

#[cfg(test)]
mod range_tests;

use std::fmt;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::config::{
    AccessToken, Config, Database, Error, LogFormat, LostRule, Networks, Problem, PublicUrl, TlsSettings, secret_key,
};
use carillon_accounts::openid;
use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_scheduler::Zone;

use crate::cli::limit_settings::LimitSettings;
use crate::cli::secret_files::given_or_in_file;
use crate::cli::settings::{DatabaseSettings, ServeSettings};

pub(super) const DATA_DIR: &str = "carillon-data";

/// A checked configuration, and the file of the access token when none was given.
pub struct ParsedSettings {
    pub config: Config,
    pub token_file: Option<PathBuf>,
}

impl DatabaseSettings {
    fn folder(&self) -> PathBuf {
        PathBuf::from(self.data_dir.as_deref().unwrap_or(DATA_DIR))
    }

    /// The database of these settings.
    pub fn database(&self) -> Result<Database, Problem> {
        if self.data_dir.as_deref() == Some("") {
            let right = "it is empty; write the path of a folder, such as /var/lib/carillon";
            return Err(Problem::new("data-dir", right));
        }
        let (given, file) = (self.database_url.as_deref(), self.database_url_file.as_deref());
        match given_or_in_file("database-url-file", given, file)? {
            Some(url) => Database::parse(&url),
            None => Ok(Database::in_folder(&self.folder())),
        }
    }
}

impl ServeSettings {
    /// All that is wrong with the settings. Writes nothing.
    pub fn problems(&self) -> Vec<Problem> {
        self.checked().err().map_or_else(Vec::new, |error| error.problems)
    }

    /// Every setting, for a command that talks to a running node. Writes nothing.
    pub fn config(&self) -> Result<Config, Error> {
        self.checked().map(|(config, _)| config)
    }

    /// Checks every setting. Writes nothing, except the files of the access token and the key for secrets when all else is right.
    pub fn parse(self) -> Result<ParsedSettings, Error> {
        let (mut config, given) = self.checked()?;
        config.secret_keys = secret_key::find(config.secret_keys, &config.database, &config.data_dir)?;
        if config.app_tokens_only {
            return Ok(ParsedSettings { config, token_file: None });
        }
        let found = AccessToken::find(given, &config.database, &config.data_dir)?;
        config.access_token = found.token;
        config.validate()?;
        Ok(ParsedSettings { config, token_file: found.file })
    }

    /// Every setting, with a random access token if none is given and the database is not shared. Also the given one.
    fn checked(&self) -> Result<(Config, Option<String>), Error> {
        let mut problems = Vec::new();
        let settings = self.with_secrets_of_files(&mut problems);
        let mut config = settings.read(&mut problems);
        if settings.app_tokens_only && settings.access_token.is_some() {
            let wrong = "there is an --access-token as well, which would not be accepted; drop one of them";
            problems.push(Problem::new("app-tokens-only", wrong));
        }
        if let Some(given) = &settings.access_token {
            config.access_token.clone_from(given);
        } else if config.database.is_shared() && !config.app_tokens_only {
            let found = AccessToken::find(None, &config.database, &config.data_dir);
            problems.extend(found.err());
        }
        problems.extend(config.validate().err().into_iter().flat_map(|error| error.problems));
        Error::unless_empty(problems).map(|()| (config, settings.access_token))
    }

    /// Every setting but the access token. What is wrong is added to `problems`, and its default taken.
    fn read(&self, problems: &mut Vec<Problem>) -> Config {
        let mut config = Config::new(self.database.folder(), random_secret());
        let mut put = |read: Result<(), Problem>| problems.extend(read.err());
        put(self.database.database().map(|database| config.database = database));
        put(address("listen", &self.listen).map(|listen| config.listen = listen));
        if let Some(text) = &self.executor_listen {
            put(address("executor-listen", text).map(|listen| config.executor_listen = Some(listen)));
        }
        if let Some(text) = &self.executor_networks {
            put(Networks::parse("executor-networks", text).map(|all| config.executor_networks = Some(all)));
        }
        if let Some(text) = &self.http_networks {
            put(Networks::parse("http-networks", text).map(|all| config.http_networks = Some(all)));
        }
        if let Some(text) = &self.public_url {
            put(PublicUrl::parse(text).map(|url| config.public_url = Some(url)));
        }
        if let Some(text) = &self.trusted_proxies {
            put(Networks::parse("trusted-proxies", text).map(|networks| config.trusted_proxies = networks));
        }
        if let Some(text) = &self.shards {
            put(number("shards", text, 1..=1024).map(|count| config.shards = Some(count)));
        }
        put(zone("report-zone", &self.report_zone).map(|zone| config.report_zone = zone));
        let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
        put(word("log-format", &self.log_format, "format", formats).map(|format| config.log_format = format));
        let (engine, ms, s) = (&mut config.engine, Duration::from_millis, Duration::from_secs);
        let rules = [("lease", LostRule::Lease), ("xxl", LostRule::Xxl)];
        put(word("lost-rule", &self.lost_rule, "rule", rules).map(|rule| engine.lost_rule = rule));
        put(number("in-flight", &self.in_flight, 1..=1000).map(|count| engine.in_flight = count));
        put(time("look-ahead", &self.look_ahead, s(1)..=s(30)).map(|time| engine.look_ahead = time));
        put(time("lease-ttl", &self.lease_ttl, s(3)..=s(60)).map(|time| engine.lease_ttl = time));
        let limit = ms(50)..=s(10);
        put(time("connect-timeout", &self.connect_timeout, limit).map(|time| engine.connect_timeout = time));
        let limit = ms(100)..=s(30);
        put(time("request-timeout", &self.request_timeout, limit).map(|time| engine.request_timeout = time));
        put(time("flag-after", &self.flag_after, s(1)..=s(86_400)).map(|time| engine.flag_after = time));
        let month = s(30 * 86_400);
        put(time("escalate-after", &self.escalate_after, s(60)..=month).map(|time| engine.escalate_after = time));
        put(time("check-after", &self.check_after, s(1)..=s(3_600)).map(|time| engine.check_after = time));
        put(self.secret_keys().map(|keys| config.secret_keys = keys));
        put(self.openid().map(|settings| config.openid = settings));
        self.limits.read(&mut config, put);
        let file = |path: &Option<String>| path.as_ref().map(PathBuf::from);
        config.tls = TlsSettings {
            cert: file(&self.tls_cert),
            key: file(&self.tls_key),
            executor_cert: file(&self.executor_tls_cert),
            executor_key: file(&self.executor_tls_key),
            executor_client_ca: file(&self.executor_tls_client_ca),
            executor_ca: file(&self.executor_ca),
            executor_client_cert: file(&self.executor_client_cert),
            executor_client_key: file(&self.executor_client_key),
        };
        config.has_passwords = !self.no_passwords;
        config.admin_second_factor = self.admin_second_factor;
        config.xxl_console_api = self.xxl_console_api;
        config.insecure_http = self.insecure_http;
        config.no_migrate = self.no_migrate;
        config.engine.scripts = self.scripts;
        config.app_tokens_only = self.app_tokens_only;
        config.redis_url.clone_from(&self.redis_url);
        config.redis_ca = file(&self.redis_ca);
        config.admin_password.clone_from(&self.admin_password);
        config.api_token.clone_from(&self.api_token);
        config
    }

    /// The same with the texts of the files in place of their names. What is wrong is added to `problems`.
    fn with_secrets_of_files(&self, problems: &mut Vec<Problem>) -> Self {
        let mut settings = self.clone();
        let files = self.secret_files.clone();
        for (setting, value, file) in [
            ("access-token-file", &mut settings.access_token, files.access_token_file),
            ("admin-password-file", &mut settings.admin_password, files.admin_password_file),
            ("api-token-file", &mut settings.api_token, files.api_token_file),
            ("redis-url-file", &mut settings.redis_url, files.redis_url_file),
        ] {
            match given_or_in_file(setting, value.as_deref(), file.as_deref()) {
                Ok(found) => *value = found,
                Err(problem) => problems.push(problem),
            }
        }
        settings
    }

    fn openid(&self) -> Result<Option<openid::Settings>, Problem> {
        let given = [
            ("oidc-client-id", &self.oidc_client_id),
            ("oidc-client-secret", &self.oidc_client_secret),
            ("oidc-client-secret-file", &self.oidc_client_secret_file),
            ("oidc-roles", &self.oidc_roles),
            ("oidc-ca", &self.oidc_ca),
        ];
        let Some(issuer) = &self.oidc_issuer else {
            let alone = given.iter().find(|(_, value)| value.is_some());
            return match alone {
                None => Ok(None),
                Some((setting, _)) => Err(Problem::new(setting, "there is no --oidc-issuer; set it too, or drop this")),
            };
        };
        let id = self.oidc_client_id.as_deref().filter(|id| !id.is_empty()).ok_or_else(|| {
            let right = "it is required with --oidc-issuer; write the client id that the provider has given";
            Problem::new("oidc-client-id", right)
        })?;
        let wrong = |message| Problem::new("oidc-roles", message);
        let roles = self.oidc_roles.as_deref().map(str::parse).transpose().map_err(wrong)?;
        let (given, file) = (self.oidc_client_secret.as_deref(), self.oidc_client_secret_file.as_deref());
        let client_secret = given_or_in_file("oidc-client-secret-file", given, file)?;
        Ok(Some(openid::Settings {
            client_secret,
            groups_claim: self.oidc_groups_claim.clone(),
            roles: roles.unwrap_or_default(),
            scopes: self.oidc_scopes.split_whitespace().map(str::to_owned).collect(),
            name: self.oidc_name.clone(),
            ca: self.oidc_ca.as_ref().map(PathBuf::from),
            ..openid::Settings::new(issuer, id)
        }))
    }

    fn secret_keys(&self) -> Result<SecretKeys, Problem> {
        let (setting, text) = match (&self.secret_key, &self.secret_key_file) {
            (None, None) => return Ok(SecretKeys::default()),
            (Some(_), Some(_)) => {
                return Err(Problem::new("secret-key-file", "there is a --secret-key as well; drop one of them"));
            }
            (Some(text), None) => ("secret-key", text.clone()),
            (None, Some(file)) => {
                let unread = |error| format!("cannot read {file}: {error}; name a file with one key a line");
                let text =
                    std::fs::read_to_string(file).map_err(|error| Problem::new("secret-key-file", unread(error)));
                ("secret-key-file", text?)
            }
        };
        SecretKeys::parse(&text).map_err(|message| Problem::new(setting, message))
    }
}

impl LimitSettings {
    /// Puts the limits into the configuration; what is wrong is passed to `put`, and its default stays.
    fn read(&self, config: &mut Config, mut put: impl FnMut(Result<(), Problem>)) {
        let rate = |setting, text: &str| number(setting, text, 1..=100_000);
        put(rate("request-rate", &self.request_rate).map(|rate| config.request_rate = rate));
        put(rate("registration-rate", &self.registration_rate).map(|rate| config.registration_rate = rate));
        let limits = &mut config.engine.limits;
        put(number("app-executors", &self.app_executors, 1..=100_000).map(|most| limits.app_executors = most));
        put(number("app-jobs", &self.app_jobs, 1..=100_000_000).map(|most| limits.app_jobs = most));
        let period = Duration::from_secs(1)..=Duration::from_secs(86_400);
        put(time("min-period", &self.min_period, period).map(|least| limits.min_period = least));
    }
}

fn address(setting: &'static str, text: &str) -> Result<SocketAddr, Problem> {
    text.parse().map_err(|_| {
        let right = "write 127.0.0.1:8080, [::1]:8080 or the like";
        Problem::new(setting, format!("`{text}` is no IP address with a port; {right}"))
    })
}

/// One of some words; `kind` names their set.
fn word<T: Copy>(setting: &'static str, text: &str, kind: &str, words: [(&str, T); 2]) -> Result<T, Problem> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let allowed = words.map(|(word, _)| word).join(" or ");
        Problem::new(setting, format!("`{text}` is no {kind}; write {allowed}"))
    })
}

fn zone(setting: &'static str, text: &str) -> Result<Zone, Problem> {
    let wrong =
        |_| Problem::new(setting, format!("`{text}` is no time zone; write an IANA name, such as Asia/Shanghai"));
    text.parse().map_err(wrong)
}

fn number<N>(setting: &'static str, text: &str, range: RangeInclusive<N>) -> Result<N, Problem>
where
    N: FromStr + PartialOrd + fmt::Display,
{
    let wrong = |_| Problem::new(setting, format!("`{text}` is no whole number; write one, such as 8"));
    let (number, from, to) = (text.parse().map_err(wrong)?, range.start(), range.end());
    let outside = || Problem::new(setting, format!("{number} is out of range; write a number from {from} to {to}"));
    if range.contains(&number) { Ok(number) } else { Err(outside()) }
}

/// `500ms`, `5s` or `24h`. A bare number is refused: milliseconds or seconds would be a guess.
fn time(setting: &'static str, text: &str, range: RangeInclusive<Duration>) -> Result<Duration, Problem> {
    let right = "write a whole number and its unit, such as 500ms, 5s or 24h";
    let wrong = |_| Problem::new(setting, format!("`{text}` is no time; {right}"));
    let time = humantime::parse_duration(text).map_err(wrong)?;
    let [shown, from, to] = [time, *range.start(), *range.end()].map(humantime::format_duration);
    let outside = || Problem::new(setting, format!("{shown} is out of range; write a time from {from} to {to}"));
    if range.contains(&time) { Ok(time) } else { Err(outside()) }
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

    fn parse(folder: &std::path::Path, arguments: &[&str]) -> Result<ParsedSettings, Error> {
        let folder = folder.to_str().unwrap();
        let line = ["carillon", "--data-dir", folder].into_iter().chain(arguments.iter().copied());
        Line::parse_from(line).settings.parse()
    }

    fn complaint(arguments: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let error = parse(folder.path(), arguments).err().unwrap().to_string();
        let written = folder.path().join("access-token").exists();
        assert!(!written, "nothing is written when a setting is wrong");
        error
    }

    // covers: 6.18
    #[test]
    fn the_manuals_defaults_are_the_configs() {
        let folder = tempfile::tempdir().unwrap();
        let parsed = parse(folder.path(), &[]).unwrap();
        let mut expected = Config::new(folder.path(), parsed.config.access_token.clone());
        expected.secret_keys = parsed.config.secret_keys.clone();
        assert!(parsed.config == expected && !expected.secret_keys.is_empty());
        assert_eq!(parsed.token_file, Some(folder.path().join("access-token")));
    }

    #[test]
    fn every_setting_arrives() {
        let folder = tempfile::tempdir().unwrap();
        let (token, other, key) = (random_secret(), random_secret(), random_secret());
        let text = format!(
            "--listen=[::]:9 --public-url=https://c.example --trusted-proxies=10.0.0.7 --tls-cert=c --tls-key=k --executor-listen=[::]:10 \
             --executor-tls-cert=ec --executor-tls-key=ek --executor-tls-client-ca=ca --executor-ca=eca --executor-client-cert=cc --executor-client-key=ck \
             --insecure-http --no-migrate --scripts --database-url=mysql://u@h/d --redis-url=redis://r:1/ \
             --shards=3 --access-token={token} --admin-password={other} --api-token={other} --report-zone=Asia/Shanghai --log-format=json \
             --look-ahead=2s --lease-ttl=3s --connect-timeout=300ms --request-timeout=400ms --in-flight=5 --lost-rule=xxl \
             --flag-after=45s --escalate-after=10m --executor-networks=10.0.0.0/8 --http-networks=10.9.0.0/16 --secret-key={key} \
             --request-rate=7 --registration-rate=8 --app-executors=9 --app-jobs=10 --min-period=11s \
             --oidc-issuer=https://l.example --oidc-client-id=c --oidc-client-secret={other} --oidc-groups-claim=g \
             --oidc-roles=ops=admin:all --oidc-scopes=one --oidc-name=Example --oidc-ca=oca --no-passwords"
        );
        let arguments: Vec<&str> = text.split_whitespace().collect();
        let parsed = parse(folder.path(), &arguments).unwrap();
        let mut expected = Config::new(folder.path(), token);
        expected.listen = "[::]:9".parse().unwrap();
        (expected.insecure_http, expected.no_migrate, expected.engine.scripts) = (true, true, true);
        expected.executor_networks = Some(Networks::parse("executor-networks", "10.0.0.0/8").unwrap());
        expected.http_networks = Some(Networks::parse("http-networks", "10.9.0.0/16").unwrap());
        let file = |path: &str| Some(PathBuf::from(path));
        expected.executor_listen = "[::]:10".parse().ok();
        expected.tls = TlsSettings {
            cert: file("c"),
            key: file("k"),
            executor_cert: file("ec"),
            executor_key: file("ek"),
            executor_client_ca: file("ca"),
            executor_ca: file("eca"),
            executor_client_cert: file("cc"),
            executor_client_key: file("ck"),
        };
        expected.public_url = Some(PublicUrl::parse("https://c.example").unwrap());
        expected.trusted_proxies = Networks::parse("trusted-proxies", "10.0.0.7").unwrap();
        expected.database = Database::Mysql { url: "mysql://u@h/d".into() };
        (expected.redis_url, expected.shards) = (Some("redis://r:1/".into()), Some(3));
        expected.openid = Some(openid::Settings {
            client_secret: Some(other.clone()),
            groups_claim: "g".into(),
            roles: "ops=admin:all".parse().unwrap(),
            scopes: vec!["one".into()],
            name: "Example".into(),
            ca: file("oca"),
            ..openid::Settings::new("https://l.example", "c")
        });
        expected.has_passwords = false;
        (expected.admin_password, expected.api_token) = (Some(other.clone()), Some(other));
        expected.secret_keys = SecretKeys::parse(&key).unwrap();
        (expected.log_format, expected.engine.in_flight) = (LogFormat::Json, 5);
        expected.report_zone = "Asia/Shanghai".parse().unwrap();
        (expected.engine.look_ahead, expected.engine.lease_ttl) = (Duration::from_secs(2), Duration::from_secs(3));
        expected.engine.connect_timeout = Duration::from_millis(300);
        expected.engine.request_timeout = Duration::from_millis(400);
        expected.engine.lost_rule = LostRule::Xxl;
        (expected.engine.flag_after, expected.engine.escalate_after) =
            (Duration::from_secs(45), Duration::from_secs(600));
        (expected.request_rate, expected.registration_rate) = (7, 8);
        let limits = &mut expected.engine.limits;
        (limits.app_executors, limits.app_jobs, limits.min_period) = (9, 10, Duration::from_secs(11));
        assert!(parsed.config == expected);
        assert_eq!(parsed.token_file, None);
    }

    // covers: V12.5
    #[test]
    fn secrets_are_read_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("{text}\n")).unwrap();
            format!("--{name}-file={}", path.display())
        };
        let (access, api, password) = (random_secret(), random_secret(), random_secret());
        let arguments = [
            file("access-token", &access),
            file("api-token", &api),
            file("admin-password", &password),
            file("database-url", "mysql://u:p@h/d"),
            file("redis-url", "redis://:p@r/"),
        ];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let config = parse(folder.path(), &arguments).unwrap().config;
        assert_eq!(config.access_token, access);
        assert_eq!((config.api_token, config.admin_password), (Some(api), Some(password)));
        assert_eq!(config.database, Database::Mysql { url: "mysql://u:p@h/d".into() });
        assert_eq!(config.redis_url.as_deref(), Some("redis://:p@r/"));
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_would_be_right() {
        for (argument, said) in [
            ("--listen=localhost", "--listen (CARILLON_LISTEN): `localhost` is no IP address with a port; write 127"),
            ("--public-url=c.example", "--public-url (CARILLON_PUBLIC_URL): `c.example` is no URL"),
            (
                "--trusted-proxies=here",
                "--trusted-proxies (CARILLON_TRUSTED_PROXIES): `here` is no IP address or network",
            ),
            ("--log-format=xml", "--log-format (CARILLON_LOG_FORMAT): `xml` is no format; write text or json"),
            ("--shards=many", "--shards (CARILLON_SHARDS): `many` is no whole number; write one"),
            ("--look-ahead=5", "--look-ahead (CARILLON_LOOK_AHEAD): `5` is no time; write a whole number and its unit"),
            ("--lease-ttl=99999999999999999999s", "is no time"),
            ("--lease-ttl=9999999999999999999s", "is out of range"),
            ("--shards=0", "--shards (CARILLON_SHARDS): 0 is out of range; write a number from 1 to 1024"),
            ("--in-flight=0", "--in-flight (CARILLON_IN_FLIGHT): 0 is out of range; write a number from 1 to 1000"),
            (
                "--look-ahead=31s",
                "--look-ahead (CARILLON_LOOK_AHEAD): 31s is out of range; write a time from 1s to 30s",
            ),
            ("--lease-ttl=2s", "--lease-ttl (CARILLON_LEASE_TTL): 2s is out of range; write a time from 3s to 1m"),
            ("--database-url=postgres://h/d", "--access-token (CARILLON_ACCESS_TOKEN): it is required with PostgreSQL"),
            ("--access-token=", "--access-token (CARILLON_ACCESS_TOKEN): it is empty"),
            ("--request-rate=0", "--request-rate (CARILLON_REQUEST_RATE): 0 is out of range; write a number from 1 to"),
            ("--api-token-file=/no/such", "--api-token-file (CARILLON_API_TOKEN_FILE): cannot read /no/such"),
            ("--database-url-file=/no/such", "--database-url-file (CARILLON_DATABASE_URL_FILE): cannot read /no/such"),
            ("--redis-url=", "--redis-url (CARILLON_REDIS_URL): this is no URL of a Redis server"),
            ("--oidc-roles=a=admin:all", "--oidc-roles (CARILLON_OIDC_ROLES): there is no --oidc-issuer"),
            (
                "--oidc-issuer=https://h",
                "--oidc-client-id (CARILLON_OIDC_CLIENT_ID): it is required with --oidc-issuer",
            ),
            ("--secret-key=ab", "--secret-key (CARILLON_SECRET_KEY): key 1 is not 32 bytes in base64 or hexadecimal"),
            ("--secret-key-file=/no/such", "--secret-key-file (CARILLON_SECRET_KEY_FILE): cannot read /no/such"),
        ] {
            let complaint = complaint(&[argument]);
            assert!(complaint.contains(said), "{argument}: {complaint}");
            assert_eq!(complaint.lines().count(), 1, "{complaint}");
        }
        // On SQLite a key is made.
        let shared = complaint(&["--database-url=postgres://h/d", "--app-tokens-only"]);
        assert!(
            shared
                .contains("--app-tokens-only (CARILLON_APP_TOKENS_ONLY): tokens of apps are stored encrypted; give a"),
            "{shared}"
        );
    }

    #[test]
    fn all_that_is_wrong_is_reported_at_once() {
        let wrong = ["--listen=x", "--in-flight=0", "--database-url=mysql://h/d", "--lease-ttl=1s"];
        let said = complaint(&wrong);
        assert!(said.starts_with("4 settings are wrong:\n  --listen"), "{said}");
        assert_eq!(said.lines().count(), 5, "{said}");
    }
}
