//! Codes from a secret and the time: RFC 6238 with SHA-1, 6 digits and steps of 30 s, the only form that all apps know.

use carillon_scheduler::Millis;
use data_encoding::BASE32_NOPAD;
use ring::hmac;

const STEP_MS: i64 = 30_000;
const DIGITS: usize = 6;
/// Of a code's step and those beside it: clocks differ, and typing takes time.
const WINDOW: std::ops::RangeInclusive<i64> = -1..=1;

/// A secret of 160 bits in base32, as apps take it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn random() -> Self {
        Self(base32(&rand::random::<[u8; 20]>()))
    }

    /// As it was stored.
    pub fn from_text(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// In groups of four, for a person who types it.
    pub fn in_groups(&self) -> String {
        groups(&self.0, " ")
    }

    /// What a QR code holds.
    pub fn address(&self, account: &str) -> String {
        let account: String = url::form_urlencoded::byte_serialize(account.as_bytes()).collect();
        // Apps show a plus sign as it is.
        let account = account.replace('+', "%20");
        format!("otpauth://totp/Carillon:{account}?secret={}&issuer=Carillon", self.0)
    }

    /// The time step that a code belongs to; None: it is no code of now.
    pub fn step_of(&self, code: &str, now: Millis) -> Option<i64> {
        let step = now / STEP_MS;
        WINDOW.map(|offset| step + offset).find(|&step| {
            let expected = code_of_step(self, step);
            bool::from(subtle::ConstantTimeEq::ct_eq(expected.as_bytes(), code.as_bytes()))
        })
    }
}

/// The code that an app shows at this moment.
pub fn code_at(secret: &Secret, now: Millis) -> String {
    code_of_step(secret, now / STEP_MS)
}

fn code_of_step(secret: &Secret, step: i64) -> String {
    // `Secret::random` wrote every stored secret. A text that is no base32 is the key itself: an empty key could be guessed.
    let text = secret.0.as_bytes();
    let secret = BASE32_NOPAD.decode(text).unwrap_or_else(|_| text.to_vec());
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let start = usize::from(tag[tag.len() - 1] & 0xf);
    let mut word = [0; 4];
    word.copy_from_slice(&tag[start..start + 4]);
    let number = (u32::from_be_bytes(word) & 0x7fff_ffff) % 10_u32.pow(DIGITS as u32);
    format!("{number:0DIGITS$}")
}

/// RFC 4648 without padding.
pub fn base32(bytes: &[u8]) -> String {
    BASE32_NOPAD.encode(bytes)
}

/// The text in groups of four.
pub fn groups(text: &str, between: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 6238, whose codes have 8 digits: here their last 6.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = Secret(base32(b"12345678901234567890"));
        assert_eq!(secret.as_str(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code_at(&secret, seconds * 1000), code, "{seconds}");
        }
    }

    #[test]
    fn a_code_counts_for_its_step_and_those_beside_it() {
        let (secret, now) = (Secret::random(), 1_760_000_010_000);
        let code = code_at(&secret, now);
        let step = now / STEP_MS;
        for later in [-STEP_MS, 0, STEP_MS] {
            assert_eq!(secret.step_of(&code, now + later), Some(step));
        }
        for wrong in ["", "12345", "1234567", "abcdef"] {
            assert_eq!(secret.step_of(wrong, now), None);
        }
        // Of two million codes a few are the same: not these two, as the secret is fixed.
        let fixed = Secret(base32(b"12345678901234567890"));
        assert_eq!(fixed.step_of(&code_at(&fixed, 59_000), 59_000 + 2 * STEP_MS), None);
    }

    #[test]
    fn an_app_reads_the_address() {
        let secret = Secret("ABCD2345".to_owned());
        let address = secret.address("ada l&b");
        assert_eq!(address, "otpauth://totp/Carillon:ada%20l%26b?secret=ABCD2345&issuer=Carillon");
        assert_eq!(secret.in_groups(), "ABCD 2345");
    }
}
