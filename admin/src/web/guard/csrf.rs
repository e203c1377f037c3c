//! A request that changes something must come from a page of this console (checked by its origin) and from a form of this
//! session (checked by its token).

use actix_web::http::Method;
use actix_web::http::header::{HOST, HeaderMap, ORIGIN};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

use crate::config::PublicUrl;

/// Name of the form field.
pub const FIELD: &str = "csrf";

pub fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Whether a page of this origin sent the request. Browsers send `Sec-Fetch-Site`, and over plain HTTP only `Origin`. A request
/// with neither header does not come from a form of this console.
pub fn is_same_origin(headers: &HeaderMap, public: Option<&PublicUrl>) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    match text("sec-fetch-site") {
        Some(site) => {
            let fits = |public: &PublicUrl| text(ORIGIN.as_str()).is_none_or(|origin| origin == public.origin());
            site == "same-origin" && public.is_none_or(fits)
        }
        None => match (text(ORIGIN.as_str()), text(HOST.as_str())) {
            (Some(origin), _) if let Some(public) = public => origin == public.origin(),
            (Some(origin), Some(host)) => {
                // A browser leaves the usual port out of both; some clients and proxies write it into the Host.
                let port = if origin.starts_with("https://") { ":443" } else { ":80" };
                let host = host.strip_suffix(port).unwrap_or(host);
                origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host))
            }
            _ => false,
        },
    }
}

/// The session's token for one answer, under a new mask each time: otherwise the sizes of compressed answers would reveal it
/// (BREACH).
pub fn masked(token: &str) -> String {
    let mask: Vec<u8> = token.bytes().map(|_| rand::random()).collect();
    let hidden = token.bytes().zip(&mask).map(|(byte, mask)| byte ^ mask);
    URL_SAFE_NO_PAD.encode(mask.iter().copied().chain(hidden).collect::<Vec<u8>>())
}

/// Whether `sent` is the session's token under some mask.
pub fn fits(token: &str, sent: &str) -> bool {
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(sent) else {
        return false;
    };
    let (mask, hidden) = bytes.split_at(bytes.len() / 2);
    let shown: Vec<u8> = hidden.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
    bytes.len() % 2 == 0 && bool::from(shown.ct_eq(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn only_a_page_of_ours_may_send() {
        let ours = [
            headers(&[("sec-fetch-site", "same-origin")]),
            headers(&[("host", "c.example:8080"), ("origin", "http://c.example:8080")]),
            headers(&[("host", "c.example"), ("origin", "https://C.example")]),
            headers(&[("host", "c.example:80"), ("origin", "http://c.example")]),
            headers(&[("host", "c.example:443"), ("origin", "https://c.example")]),
        ];
        let others = [
            headers(&[]),
            headers(&[("host", "c.example")]),
            headers(&[("host", "c.example"), ("origin", "null")]),
            headers(&[("host", "c.example"), ("origin", "http://c.example.evil")]),
            headers(&[("host", "c.example"), ("origin", "http://evil.c.example")]),
            headers(&[("host", "c.example:8080"), ("origin", "http://c.example")]),
            headers(&[("host", "c.example:443"), ("origin", "http://c.example")]),
            headers(&[("sec-fetch-site", "cross-site"), ("host", "c.example"), ("origin", "http://c.example")]),
            headers(&[("sec-fetch-site", "same-site")]),
            headers(&[("sec-fetch-site", "none")]),
        ];
        assert!(ours.iter().all(|headers| is_same_origin(headers, None)));
        assert!(!others.iter().any(|headers| is_same_origin(headers, None)));
    }

    // covers: V8
    #[test]
    fn where_the_address_of_the_console_is_known_no_other_counts() {
        let public = PublicUrl::parse("https://c.example").unwrap();
        let is_ours = |pairs: &[_]| is_same_origin(&headers(pairs), Some(&public));
        assert!(is_ours(&[("host", "inner:8080"), ("origin", "https://c.example")]));
        assert!(is_ours(&[("sec-fetch-site", "same-origin"), ("origin", "https://c.example")]));
        assert!(is_ours(&[("sec-fetch-site", "same-origin")]));
        assert!(!is_ours(&[("host", "evil.example"), ("origin", "https://evil.example")]));
        assert!(!is_ours(&[("host", "c.example"), ("origin", "http://c.example")]), "not by plain HTTP");
        assert!(!is_ours(&[("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")]));
        assert!(!is_ours(&[("host", "c.example")]));
    }

    // covers: S7, S18
    #[test]
    fn a_token_fits_under_every_mask_and_no_other_does() {
        let token = carillon_accounts::secret::random_secret();
        let (one, two) = (masked(&token), masked(&token));
        assert_ne!(one, two);
        assert!(fits(&token, &one) && fits(&token, &two));
        let other = masked(&carillon_accounts::secret::random_secret());
        for wrong in ["", "A", "AA", "!", token.as_str(), other.as_str(), &one[2..]] {
            assert!(!fits(&token, wrong), "{wrong}");
        }
    }
}
