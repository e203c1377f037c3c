//! Digests that are stored and compared as texts.

use sha2::{Digest as _, Sha256};

/// SHA-256 in hexadecimal digits.
pub fn hex_digest(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
