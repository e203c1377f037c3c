//! Callbacks: a service that answers 202 reports the end of a run later, at a URL that only it was given.

use ring::hmac::{HMAC_SHA256, Key, sign};

/// Bytes of the signature that the URL has.
const MAC_BYTES: usize = 16;

/// Makes and checks the addresses of callbacks. Nothing is stored for one: its signature is right on every node of the database.
pub struct CallbackUrls {
    /// With a slash at its end.
    base: String,
    key: Key,
}

impl CallbackUrls {
    /// `base`: the address of the server as services reach it. `key`: random, the same on all nodes of the database.
    pub fn new(base: &str, key: &str) -> Self {
        Self { base: format!("{}/", base.trim_end_matches('/')), key: Key::new(HMAC_SHA256, key.as_bytes()) }
    }

    /// Where the service of a run reports its end.
    pub fn url(&self, run_id: i64) -> String {
        format!("{}api/v1/callbacks/{run_id}.{}", self.base, self.mac(run_id))
    }

    /// The run whose end the last part of such a URL may report. None: the server has made no such URL.
    pub fn run_of(&self, name: &str) -> Option<i64> {
        let (run_id, mac) = name.split_once('.')?;
        let run_id: i64 = run_id.parse().ok()?;
        let expected = self.mac(run_id);
        // Compared in constant time.
        let differs = expected.bytes().zip(mac.bytes()).fold(0, |differs, (one, other)| differs | (one ^ other));
        (mac.len() == expected.len() && differs == 0).then_some(run_id)
    }

    /// The part of the URL that proves it, which must not be shown.
    pub(super) fn mac(&self, run_id: i64) -> String {
        let tag = sign(&self.key, format!("carillon callback {run_id}").as_bytes());
        tag.as_ref()[..MAC_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-44
    #[test]
    fn only_the_server_makes_urls_that_count() {
        let urls = CallbackUrls::new("https://carillon.example/c/", "0123456789abcdef");
        let url = urls.url(4711);
        let name = url.strip_prefix("https://carillon.example/c/api/v1/callbacks/").unwrap();
        assert_eq!(urls.run_of(name), Some(4711));
        let mac = name.split_once('.').unwrap().1;
        let last = if mac.ends_with('0') { '1' } else { '0' };
        let forged = format!("4711.{}{last}", &mac[..mac.len() - 1]);
        for wrong in
            ["", "4711", "4711.", "x.y", &forged, &format!("4712.{mac}"), &format!("{name}0"), &name[..name.len() - 1]]
        {
            assert_eq!(urls.run_of(wrong), None, "{wrong}");
        }
        assert_eq!(CallbackUrls::new("https://carillon.example/", "another").run_of(name), None);
    }
}
