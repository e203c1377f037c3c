//! The language of a page: the account's, else the browser's cookie, else the best that the browser asks for.

use actix_web::HttpRequest;
use actix_web::http::header::ACCEPT_LANGUAGE;
use carillon_locale::Language;

use crate::web::guard::cookies;

/// The cookie of a person's choice, for pages before signing in.
pub const LANGUAGE: &str = "carillon_language";

/// `chosen`: the language of the account.
pub fn language_of(request: &HttpRequest, chosen: Option<&str>) -> Language {
    let cookie = || cookies::read(request, LANGUAGE).and_then(|cookie| Language::from_code(cookie.value()));
    let asked = || request.headers().get(ACCEPT_LANGUAGE).and_then(|it| best(it.to_str().ok()?));
    chosen.and_then(Language::from_code).or_else(cookie).or_else(asked).unwrap_or_default()
}

/// The language of the highest weight in an Accept-Language header; of equal ones the first.
fn best(header: &str) -> Option<Language> {
    let range = |part: &str| {
        let (tag, weight) = part.split_once(';').unwrap_or((part, "q=1"));
        let primary = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
        // There may be blanks around the sign, and the letter may be a capital one.
        let weight = weight.trim().strip_prefix(['q', 'Q'])?.trim_start().strip_prefix('=')?;
        Some((Language::from_code(&primary)?, weight.trim().parse::<f32>().ok().filter(|weight| *weight > 0.0)?))
    };
    let ranges = header.split(',').filter_map(range);
    ranges.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(language, _)| language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browsers_wish_is_weighed() {
        let cases = [
            ("zh-CN,zh;q=0.9,en;q=0.8", Some(Language::Chinese)),
            ("en-US,en;q=0.9,zh;q=0.8", Some(Language::English)),
            ("de, zh-Hans;q=0.3", Some(Language::Chinese)),
            ("en;q=0.2, zh;q=0.7", Some(Language::Chinese)),
            ("en; q=0.2, ZH-Hant-TW ; Q = 0.7", Some(Language::Chinese)),
            ("zh; q=0.2, *;q=0.1, en ;q=0.7", Some(Language::English)),
            ("zh;level=1, *", None),
            ("zh;q=0", None),
            ("fr", None),
            (";q=,,", None),
        ];
        for (header, expected) in cases {
            assert_eq!(best(header), expected, "{header}");
        }
    }
}
