//! The address under which people reach the console.

use url::Url;

use crate::config::problem::Problem;

const SETTING: &str = "public-url";

/// With which the program's own paths begin. Below such a path a request could not be told from one whose path the proxy has taken off.
const OWN_PATHS: [&str; 31] = [
    "account",
    "alerts",
    "api",
    "apps",
    "assets",
    "audit",
    "backfills",
    "calendars",
    "forecast",
    "gaps",
    "healthz",
    "imports",
    "jobs",
    "limits",
    "login",
    "logout",
    "metrics",
    "misfires",
    "nodes",
    "pauses",
    "preferences",
    "readyz",
    "reports",
    "reset",
    "retention",
    "runs",
    "search",
    "setup",
    "users",
    "xxl-job-admin",
    "zones",
];

/// Scheme, host and port, as a browser writes them in the header Origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
    /// Of a console below a path of its host: `/carillon`. Empty: it has the host alone.
    path: String,
}

impl PublicUrl {
    /// # Errors
    /// It is no `http://` or `https://` address, or has more than a host, a port and a plain path.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let right =
            "write the address of the console, such as https://carillon.example.com or https://example.com/carillon";
        let wrong = |what: &str| Problem::new(SETTING, format!("`{text}` {what}; {right}"));
        let url = Url::parse(text).map_err(|error| wrong(&format!("is no URL ({error})")))?;
        if !url.username().is_empty() || url.password().is_some() {
            // Not quoted: it may be a password.
            return Err(Problem::new(SETTING, format!("it holds a user name or password; {right}")));
        }
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong("is no address that begins with http:// or https://"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("has a query or a fragment, below which the console is not served"));
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let is_plain = |name: &str| !name.is_empty() && name.bytes().all(is_plain_byte);
        if !path.split('/').skip(1).all(is_plain) {
            return Err(wrong("has a path with other characters than letters, digits, `-`, `_` and `.`"));
        }
        if path.split('/').nth(1).is_some_and(|first| OWN_PATHS.contains(&first)) {
            return Err(wrong("has a path that begins as one of Carillon's own paths"));
        }
        Ok(Self { origin: url.origin().ascii_serialization(), path })
    }

    /// `https://host` or `https://host:port`, without a slash at the end.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Below which path of its host the console is: `/carillon`, or empty.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The whole address, without a slash at the end.
    pub fn address(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    /// Host and port, as browsers write them in the header Host: without the usual port.
    pub fn authority(&self) -> &str {
        self.origin.split_once("://").map_or("", |(_, authority)| authority)
    }

    pub fn is_https(&self) -> bool {
        self.origin.starts_with("https://")
    }

    /// Whether a header Host names it; some clients write the usual port too.
    pub fn is_host(&self, host: &str) -> bool {
        let port = if self.is_https() { ":443" } else { ":80" };
        let usual = |host: &str| host.strip_suffix(port).unwrap_or(host).to_ascii_lowercase();
        usual(host) == usual(self.authority())
    }
}

fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_kept_as_browsers_write_it() {
        for (text, origin, authority, is_https) in [
            ("https://Carillon.Example.com", "https://carillon.example.com", "carillon.example.com", true),
            ("https://c.example:443/", "https://c.example", "c.example", true),
            ("http://10.0.0.7:8080/", "http://10.0.0.7:8080", "10.0.0.7:8080", false),
            ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443", "[2001:db8::1]:8443", true),
        ] {
            let url = PublicUrl::parse(text).unwrap();
            assert_eq!((url.origin(), url.authority(), url.is_https()), (origin, authority, is_https));
        }
    }

    // covers: R113, R114
    #[test]
    fn it_may_lie_below_a_path_and_is_named_with_the_usual_port_too() {
        let url = PublicUrl::parse("https://c.example/tools/carillon/").unwrap();
        assert_eq!((url.origin(), url.path()), ("https://c.example", "/tools/carillon"));
        assert_eq!(url.address(), "https://c.example/tools/carillon");
        assert!(url.is_host("c.example") && url.is_host("C.example:443"));
        assert!(!url.is_host("c.example:80") && !url.is_host("c.example:8443") && !url.is_host("d.example"));
        let odd = PublicUrl::parse("http://c.example:8080").unwrap();
        assert!(odd.is_host("c.example:8080") && !odd.is_host("c.example"));
    }

    #[test]
    fn what_is_no_address_of_a_console_is_refused() {
        for (text, what) in [
            ("", "is no URL"),
            ("carillon.example.com", "is no URL"),
            ("ftp://c.example", "begins with http:// or https://"),
            ("https://c.example/a%20b", "has a path with other characters"),
            ("https://c.example/a//b", "has a path with other characters"),
            ("https://c.example/?a=b", "has a query"),
            ("https://ada:secret@c.example", "it holds a user name"),
        ] {
            let problem = PublicUrl::parse(text).unwrap_err().to_string();
            assert!(problem.starts_with("--public-url (CARILLON_PUBLIC_URL): "), "{problem}");
            assert!(problem.contains(what) && problem.contains("such as https://carillon.example.com"), "{problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}
