//! HMAC-SHA256, as the signatures of requests use it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac::{HMAC_SHA256, Key, sign};

pub fn hmac_base64(key: &str, text: &str) -> String {
    STANDARD.encode(sign(&Key::new(HMAC_SHA256, key.as_bytes()), text.as_bytes()))
}

pub fn hmac_hex(key: &str, text: &str) -> String {
    let tag = sign(&Key::new(HMAC_SHA256, key.as_bytes()), text.as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_standard() {
        // RFC 4231, case 2.
        let hex = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(hmac_hex("Jefe", "what do ya want for nothing?"), hex);
        assert_eq!(hmac_base64("Jefe", "what do ya want for nothing?"), "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=");
    }
}
