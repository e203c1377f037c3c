use std::time::{SystemTime, UNIX_EPOCH};

/// The wall clock, in milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "an observer of a real process reads the clock that a user would")]
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}
