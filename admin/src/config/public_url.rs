//! The address under which people reach the console.

use url::Url;

use crate::config::problem::Problem;

const SETTING: &str = "public-url";

/// Scheme, host and port, as a browser writes them in the header Origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
}

impl PublicUrl {
    /// # Errors
    /// It is no `http://` or `https://` address, or has more than a host and a port.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let right = "write the address of the console without a path, such as https://carillon.example.com";
        let wrong = |what: &str| Problem::new(SETTING, format!("`{text}` {what}; {right}"));
        let url = Url::parse(text).map_err(|error| wrong(&format!("is no URL ({error})")))?;
        if !url.username().is_empty() || url.password().is_some() {
            // Not quoted: it may be a password.
            return Err(Problem::new(SETTING, format!("it holds a user name or password; {right}")));
        }
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong("is no address that begins with http:// or https://"));
        }
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("has a path, a query or a fragment, below which the console is not served"));
        }
        Ok(Self { origin: url.origin().ascii_serialization() })
    }

    /// `https://host` or `https://host:port`, without a slash at the end.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Host and port, as browsers write them in the header Host: without the usual port.
    pub fn authority(&self) -> &str {
        self.origin.split_once("://").map_or("", |(_, authority)| authority)
    }

    pub fn is_https(&self) -> bool {
        self.origin.starts_with("https://")
    }
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

    #[test]
    fn what_is_no_address_of_a_console_is_refused() {
        for (text, what) in [
            ("", "is no URL"),
            ("carillon.example.com", "is no URL"),
            ("ftp://c.example", "begins with http:// or https://"),
            ("https://c.example/carillon", "has a path"),
            ("https://c.example/?a=b", "has a path, a query"),
            ("https://ada:secret@c.example", "it holds a user name"),
        ] {
            let problem = PublicUrl::parse(text).unwrap_err().to_string();
            assert!(problem.starts_with("--public-url (CARILLON_PUBLIC_URL): "), "{problem}");
            assert!(problem.contains(what) && problem.contains("such as https://carillon.example.com"), "{problem}");
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}
