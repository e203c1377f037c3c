//! Signatures of requests as Standard Webhooks define them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac::{HMAC_SHA256, Key, sign};

/// What secrets in the form of the standard begin with; base64 follows.
const PREFIX: &str = "whsec_";

/// The value of `webhook-signature` for a message with this id, time in seconds and body.
pub fn signature(secret: &str, id: &str, seconds: i64, body: &str) -> String {
    let decoded = secret.strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok());
    let key = Key::new(HMAC_SHA256, decoded.as_deref().unwrap_or(secret.as_bytes()));
    let tag = sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

/// The value of `Authorization` behind `Basic`.
pub fn basic(user: &str, password: &str) -> String {
    STANDARD.encode(format!("{user}:{password}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example of the standard's specification.
    // covers: 001-44
    #[test]
    fn a_signature_is_that_of_the_standard() {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let found = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(found, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(basic("Aladdin", "open sesame"), "QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }
}
