//! The URL of a line, taken apart.

use url::form_urlencoded;

/// A URL as an HTTP job has it, and what else stood in it.
pub(super) struct Target {
    pub url: String,
    /// User and password.
    pub user: Option<(String, Option<String>)>,
    pub has_fragment: bool,
}

impl Target {
    /// Without a scheme, curl sends HTTP.
    pub(super) fn parse(text: &str) -> Self {
        let is_scheme = |scheme: &str| !scheme.contains(['/', '?', '#', '@']);
        let with_scheme = text.trim().split_once("://").filter(|(scheme, _)| is_scheme(scheme));
        let (scheme, rest) = with_scheme.unwrap_or(("http", text.trim()));
        let (rest, fragment) = rest.split_once('#').map_or((rest, false), |(rest, _)| (rest, true));
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let user = user.map(|user| match user.split_once(':') {
            Some((user, password)) => (decoded(user), Some(decoded(password))),
            None => (decoded(user), None),
        });
        let url = format!("{}://{host}{path}", scheme.to_ascii_lowercase());
        Self { url, user, has_fragment: fragment }
    }

    /// The name of the host, without port.
    pub(super) fn host(&self) -> &str {
        self.authority().0
    }

    /// Where the port is no number, it may be a part of a password that is not escaped.
    pub(super) fn has_odd_port(&self) -> bool {
        self.authority().1.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Host and port.
    fn authority(&self) -> (&str, Option<&str>) {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (authority, None),
        }
    }

    /// With further members of the query, as `-G` adds them.
    pub(super) fn with_query(self, query: &str) -> Self {
        let sign = match (self.url.contains('?'), self.url.ends_with(['?', '&'])) {
            (_, true) => "",
            (true, false) => "&",
            (false, false) => "?",
        };
        Self { url: format!("{}{sign}{query}", self.url), ..self }
    }
}

/// Without the escapes of a URL, in which `+` stands for itself.
fn decoded(text: &str) -> String {
    let text = text.replace('+', "%2B").replace('&', "%26");
    form_urlencoded::parse(format!("={text}").as_bytes()).map(|(_, value)| value.into_owned()).collect()
}

/// The value of `--data-urlencode`: `content`, `=content` or `name=content`. None: `@file` or `name@file`.
pub(super) fn url_encoded(text: &str) -> Option<String> {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    match text.split_once('=') {
        Some(("", content)) => Some(encoded(content)),
        Some((name, content)) => Some(format!("{name}={}", encoded(content))),
        None if text.contains('@') => None,
        None => Some(encoded(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let parts = |text: &str| {
            let target = Target::parse(text);
            (target.url.clone(), target.host().to_owned(), target.user, target.has_fragment)
        };
        let user = |user: &str, password: Option<&str>| Some((user.to_owned(), password.map(str::to_owned)));
        for (text, url, host, expected, has_fragment) in [
            ("a.example", "http://a.example", "a.example", None, false),
            ("HTTPS://a:1/b@c?d#e#f", "https://a:1/b@c?d", "a", None, true),
            ("ftp://a?b", "ftp://a?b", "a", None, false),
            ("a/?b=http://c", "http://a/?b=http://c", "a", None, false),
            ("http://u@[::1]:80/", "http://[::1]:80/", "[::1]", user("u", None), false),
            ("http://[::1]", "http://[::1]", "[::1]", None, false),
            ("u%40b:p+%3A&q@a", "http://a", "a", user("u@b", Some("p+:&q")), false),
        ] {
            assert_eq!(parts(text), (url.to_owned(), host.to_owned(), expected, has_fragment), "{text}");
        }
    }

    #[test]
    fn a_port_that_is_a_part_of_a_password_is_found() {
        for odd in ["http://u:p#w@a/", "http://u:p/w@a/", "u:p?w@a"] {
            assert!(Target::parse(odd).has_odd_port(), "{odd}");
        }
        for usual in ["http://a/", "http://a:80", "http://[::1]/", "http://u:p@a:80/b:c@d"] {
            assert!(!Target::parse(usual).has_odd_port(), "{usual}");
        }
    }

    #[test]
    fn a_query_is_added_to_the_one_that_is_there() {
        for (url, expected) in
            [("http://a/", "http://a/?x"), ("http://a?", "http://a?x"), ("http://a/?b=1", "http://a/?b=1&x")]
        {
            assert_eq!(Target::parse(url).with_query("x").url, expected);
        }
        for (text, expected) in
            [("a b&c", Some("a+b%26c")), ("=a=b", Some("a%3Db")), ("n=a b", Some("n=a+b")), ("@f", None), ("n@f", None)]
        {
            assert_eq!(url_encoded(text).as_deref(), expected, "{text}");
        }
    }
}
