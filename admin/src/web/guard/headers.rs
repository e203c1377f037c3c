//! Headers that every answer of the console carries.

use actix_web::http::header::{self, HeaderName};

/// Scripts and styles from our own files only, no embedding in other pages, no address sent to other sites.
pub const POLICY: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Not `no-referrer`: then browsers would send forms with `Origin: null`.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
];
