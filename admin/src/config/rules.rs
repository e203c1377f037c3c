//! The rules between settings, and those of the secrets. The ranges of the others are checked where they are parsed.

use carillon_accounts::openid;
use carillon_engine::lease::redis::url::RedisUrl;

use crate::config::problem::{Error, Problem};
use crate::config::settings::Config;

/// Shortest access token or API token, in characters.
const TOKEN_MIN: usize = 16;
const PASSWORD: std::ops::RangeInclusive<usize> = 10..=128;
impl Config {
    /// Checks the secrets and the rules between settings.
    ///
    /// # Errors
    /// Every problem found, not only the first.
    pub fn validate(&self) -> Result<(), Error> {
        Error::unless_empty(problems(self))
    }
}

/// Everything that is wrong with `config`, in the order of the manual.
fn problems(config: &Config) -> Vec<Problem> {
    [
        plain_http(config, "listen"),
        plain_http(config, "executor-listen"),
        two_listeners(config),
        public_scheme(config),
        redis_url(config),
        redis_ca(config),
        token("access-token", Some(&config.access_token)),
        admin_password(config),
        token("api-token", config.api_token.as_deref()),
        separate_tokens(config),
        app_tokens(config),
        openid_issuer(config),
        openid_roles(config),
        openid_address(config),
        no_passwords(config),
        admin_second_factor(config),
        request_timeout(config),
    ]
    .into_iter()
    .flatten()
    .chain(config.tls.problems(config.executor_listen.is_some()))
    .collect()
}

fn plain_http(config: &Config, setting: &'static str) -> Option<Problem> {
    let (address, has_tls) = match setting {
        "listen" => (config.listen, config.tls.console().is_some()),
        _ => (config.executor_listen?, config.tls.executors().is_some()),
    };
    (!has_tls && !address.ip().is_loopback() && !config.insecure_http).then(|| {
        Problem::new(
            setting,
            format!(
                "{address} is reached from other machines, and what is sent there, passwords too, is not encrypted; give \
                 --tls-cert and --tls-key, listen on 127.0.0.1 behind a proxy with TLS, or accept that with --insecure-http (CARILLON_INSECURE_HTTP=true)"
            ),
        )
    })
}

fn public_scheme(config: &Config) -> Option<Problem> {
    let is_plain = config.public_url.as_ref().is_some_and(|url| !url.is_https());
    (is_plain && config.tls.cert.is_some()).then(|| {
        let wrong = "it begins with http://, but --listen speaks TLS, since --tls-cert is given; write https://";
        Problem::new("public-url", wrong)
    })
}

fn two_listeners(config: &Config) -> Option<Problem> {
    let same = config.executor_listen == Some(config.listen) && config.listen.port() != 0;
    (same).then(|| {
        let wrong = "it is the address of --listen, which serves executors too; write another one, or drop it";
        Problem::new("executor-listen", wrong)
    })
}

fn redis_url(config: &Config) -> Option<Problem> {
    let url = config.redis_url.as_deref()?;
    let complaint = RedisUrl::parse(url).err()?;
    Some(Problem::new("redis-url", complaint))
}

fn redis_ca(config: &Config) -> Option<Problem> {
    config.redis_ca.as_ref()?;
    let url = config.redis_url.as_deref().map(RedisUrl::parse);
    let tls = matches!(url, Some(Ok(url)) if url.tls);
    let wrong = "there is no TLS that it could be for; give a --redis-url that begins with rediss, or drop it";
    (!tls).then(|| Problem::new("redis-ca", wrong))
}

/// Executors and people are not to hold the same secret, and headers are not to carry control characters.
fn token(setting: &'static str, value: Option<&str>) -> Option<Problem> {
    let value = value?;
    let wrong = if value.is_empty() {
        "it is empty".to_owned()
    } else if value.chars().any(|c| !c.is_ascii_graphic()) {
        "it holds a space or a character that an HTTP header cannot carry".to_owned()
    } else if value.len() < TOKEN_MIN {
        format!("it has {} characters", value.len())
    } else {
        return None;
    };
    Some(Problem::new(
        setting,
        format!(
            "{wrong}; write at least {TOKEN_MIN} printable ASCII characters, such as the output of `openssl rand -hex 24`"
        ),
    ))
}

fn separate_tokens(config: &Config) -> Option<Problem> {
    (config.api_token.as_ref() == Some(&config.access_token)).then(|| {
        Problem::new("api-token", "it equals the access token, so every executor would manage jobs; write another one")
    })
}

fn app_tokens(config: &Config) -> Option<Problem> {
    let wrong = "tokens of apps are stored encrypted; give a --secret-key-file (CARILLON_SECRET_KEY_FILE) as well";
    (config.app_tokens_only && lacks_key(config)).then(|| Problem::new("app-tokens-only", wrong))
}

/// On SQLite one is made when all settings are right.
fn lacks_key(config: &Config) -> bool {
    config.secret_keys.is_empty() && config.database.is_shared()
}

fn admin_password(config: &Config) -> Option<Problem> {
    let length = config.admin_password.as_deref()?.chars().count();
    (!PASSWORD.contains(&length)).then(|| {
        Problem::new(
            "admin-password",
            format!("it has {length} characters; write {} to {} characters", PASSWORD.start(), PASSWORD.end()),
        )
    })
}

fn openid_issuer(config: &Config) -> Option<Problem> {
    let complaint = openid::issuer_complaint(&config.openid.as_ref()?.issuer)?;
    Some(Problem::new("oidc-issuer", complaint))
}

fn openid_roles(config: &Config) -> Option<Problem> {
    let wrong = "it is required with --oidc-issuer, or no person who signs in has a role; write GROUP=ROLE:APP, such as \
                 ops=admin:all,team-a=operator:orders";
    config.openid.as_ref()?.roles.is_empty().then(|| Problem::new("oidc-roles", wrong))
}

fn openid_address(config: &Config) -> Option<Problem> {
    let is_known = config.public_url.is_some() || config.listen.ip().is_loopback();
    let wrong = "it is required with --oidc-issuer, whose provider sends browsers back there; write the address of the console, \
                 such as https://carillon.example.com";
    (config.openid.is_some() && !is_known).then(|| Problem::new("public-url", wrong))
}

fn no_passwords(config: &Config) -> Option<Problem> {
    let wrong = "without an OpenID provider there would be no way to sign in; set --oidc-issuer, or drop it";
    (!config.has_passwords && config.openid.is_none()).then(|| Problem::new("no-passwords", wrong))
}

fn admin_second_factor(config: &Config) -> Option<Problem> {
    let wrong = "the secrets of second factors are encrypted; set --secret-key-file (CARILLON_SECRET_KEY_FILE) too";
    (config.admin_second_factor && lacks_key(config)).then(|| Problem::new("admin-second-factor", wrong))
}

fn request_timeout(config: &Config) -> Option<Problem> {
    let (request, connect) = (config.engine.request_timeout, config.engine.connect_timeout);
    (request <= connect).then(|| {
        let wrong = format!(
            "{request:?} is not longer than --connect-timeout, {connect:?}, which it includes; write a longer one"
        );
        Problem::new("request-timeout", wrong)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::database::Database;
    use carillon_accounts::secret::random_secret;

    fn config() -> Config {
        Config::new("data", random_secret())
    }

    fn complaints(change: impl FnOnce(&mut Config)) -> Vec<String> {
        let mut config = config();
        change(&mut config);
        problems(&config).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_defaults_are_right() {
        assert_eq!(complaints(|_| ()), Vec::<String>::new());
    }

    // covers: S6
    #[test]
    fn plain_http_beyond_this_machine_must_be_asked_for() {
        let everywhere = "0.0.0.0:8080".parse().unwrap();
        assert!(complaints(|c| c.listen = everywhere)[0].contains("--insecure-http (CARILLON_INSECURE_HTTP=true)"));
        assert!(complaints(|c| (c.listen, c.insecure_http) = (everywhere, true)).is_empty());
    }

    // covers: S24
    #[test]
    fn the_files_of_tls_belong_together() {
        fn file() -> Option<std::path::PathBuf> {
            Some("pair.pem".into())
        }
        let everywhere = "0.0.0.0:8080".parse().unwrap();
        let with_tls = complaints(|c| (c.listen, c.tls.cert, c.tls.key) = (everywhere, file(), file()));
        assert!(with_tls.is_empty(), "{with_tls:?}");
        let said = complaints(|c| (c.executor_listen, c.tls.executor_cert) = (Some(everywhere), file()));
        assert!(said[0].contains("--executor-listen") && said[1].contains("it needs --executor-tls-key"), "{said:?}");
        for (change, expected) in [
            ((|c| c.tls.cert = file()) as Change, "--tls-cert (CARILLON_TLS_CERT): it needs --tls-key"),
            (|c| c.tls.key = file(), "--tls-key (CARILLON_TLS_KEY): it needs --tls-cert"),
            (
                |c| (c.tls.executor_cert, c.tls.executor_key) = (file(), file()),
                "--executor-tls-cert (CARILLON_EXECUTOR_TLS_CERT): there is no --executor-listen",
            ),
            (
                |c| (c.executor_listen, c.tls.executor_client_ca) = ("127.0.0.1:1".parse().ok(), file()),
                "--executor-tls-client-ca (CARILLON_EXECUTOR_TLS_CLIENT_CA): it needs TLS",
            ),
            (
                |c| {
                    (c.tls.cert, c.tls.key) = (file(), file());
                    c.public_url = crate::config::PublicUrl::parse("http://c.example").ok();
                },
                "--public-url (CARILLON_PUBLIC_URL): it begins with http://",
            ),
        ] {
            let complaints = complaints(change);
            assert!(complaints.len() == 1 && complaints[0].contains(expected), "{complaints:?} / {expected}");
        }
    }

    fn with_roles(issuer: &str) -> openid::Settings {
        openid::Settings { roles: "ops=admin:all".parse().unwrap(), ..openid::Settings::new(issuer, "carillon") }
    }

    type Change = fn(&mut Config);

    // covers: S16
    #[test]
    fn each_rule_names_its_flag_its_variable_and_what_would_be_right() {
        let cases: [(Change, &str); 12] = [
            (
                |c| c.redis_url = Some("http://h".into()),
                "--redis-url (CARILLON_REDIS_URL): this is no URL of a Redis server; write redis://",
            ),
            (
                |c| c.access_token = String::new(),
                "--access-token (CARILLON_ACCESS_TOKEN): it is empty; write at least 16",
            ),
            (
                |c| c.access_token = "short".into(),
                "--access-token (CARILLON_ACCESS_TOKEN): it has 5 characters; write at least 16",
            ),
            (|c| c.access_token.push(' '), "it holds a space"),
            (
                |c| c.admin_password = Some("nine char".into()),
                "--admin-password (CARILLON_ADMIN_PASSWORD): it has 9 characters; write 10 to 128",
            ),
            (
                |c| c.api_token = Some(c.access_token.clone()),
                "--api-token (CARILLON_API_TOKEN): it equals the access token",
            ),
            (
                |c| c.openid = Some(with_roles("http://login.example.com")),
                "--oidc-issuer (CARILLON_OIDC_ISSUER): `http://login.example.com` is not https",
            ),
            (
                |c| c.openid = Some(openid::Settings::new("https://login.example.com", "carillon")),
                "--oidc-roles (CARILLON_OIDC_ROLES): it is required with --oidc-issuer",
            ),
            (
                |c| {
                    (c.listen, c.insecure_http) = ("0.0.0.0:8080".parse().unwrap(), true);
                    c.openid = Some(with_roles("https://login.example.com"));
                },
                "--public-url (CARILLON_PUBLIC_URL): it is required with --oidc-issuer",
            ),
            (|c| c.has_passwords = false, "--no-passwords (CARILLON_NO_PASSWORDS): without an OpenID provider"),
            (
                |c| {
                    c.database = Database::parse("postgres://h/d").unwrap();
                    c.admin_second_factor = true;
                },
                "--admin-second-factor (CARILLON_ADMIN_SECOND_FACTOR): the secrets of second factors are encrypted; set",
            ),
            (
                |c| c.engine.request_timeout = c.engine.connect_timeout,
                "--request-timeout (CARILLON_REQUEST_TIMEOUT): 1s is not longer than --connect-timeout",
            ),
        ];
        for (change, expected) in cases {
            let complaints = complaints(change);
            assert_eq!(complaints.len(), 1, "{complaints:?}");
            assert!(complaints[0].contains(expected), "{} / {expected}", complaints[0]);
        }
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let error = {
            let mut config = config();
            config.redis_url = Some(String::new());
            config.admin_password = Some(String::new());
            config.validate().unwrap_err()
        };
        assert_eq!(error.problems.len(), 2);
        assert!(error.to_string().starts_with("2 settings are wrong:\n  --redis-url"), "{error}");
    }
}
