//! The W3C trace context of a run's request: <https://www.w3.org/TR/trace-context/>.

use std::fmt;

use md5::{Digest as _, Md5};

use super::fire_key::FireKey;

/// The flag that says that the caller records the trace.
const SAMPLED: u8 = 1;

/// The value of the header `traceparent`, version 00.
///
/// All attempts of a fire share the trace id; each run is a span of its own. Both are digests, so that each node, and the page of a run,
/// finds the same ones without a record of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traceparent {
    /// Not 0.
    trace_id: u128,
    /// Of the caller, not 0.
    parent_id: u64,
    flags: u8,
}

impl Traceparent {
    /// The context of a run. `cluster` keeps the traces of two installations apart. `incoming`: that of the request which asked for the run;
    /// its trace goes on.
    pub fn of_run(cluster: &str, key: FireKey, run_id: i64, incoming: Option<Self>) -> Self {
        let own = || Self {
            trace_id: trace_of(cluster, key).max(1),
            parent_id: 0,
            // Services that follow their caller's decision would otherwise never record a run.
            flags: SAMPLED,
        };
        let span = digest([cluster.as_bytes(), b" span ", &run_id.to_be_bytes()]) >> 64;
        Self { parent_id: u64::try_from(span).unwrap_or(u64::MAX).max(1), ..incoming.unwrap_or_else(own) }
    }

    /// Reads a header's value. `None`: it is no trace context, which the standard asks to ignore.
    ///
    /// ```
    /// use carillon_scheduler::Traceparent;
    ///
    /// let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    /// assert_eq!(Traceparent::parse(text).unwrap().to_string(), text);
    /// assert_eq!(Traceparent::parse("00-00000000000000000000000000000000-00f067aa0ba902b7-01"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let version = hexadecimal(parts.next()?, 2).filter(|version| *version != 0xff)?;
        let trace_id = hexadecimal(parts.next()?, 32).filter(|id| *id != 0)?;
        let parent_id = hexadecimal(parts.next()?, 16).filter(|id| *id != 0)?;
        let flags = hexadecimal(parts.next()?, 2)?;
        // A later version may have more members behind these.
        if version == 0 && parts.next().is_some() {
            return None;
        }
        Some(Self { trace_id, parent_id: u64::try_from(parent_id).ok()?, flags: u8::try_from(flags).ok()? & SAMPLED })
    }

    /// The 32 digits of the trace, as log lines and tracing systems name it.
    pub fn trace_id(self) -> String {
        format!("{:032x}", self.trace_id)
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace_id, self.parent_id, self.flags)
    }
}

fn trace_of(cluster: &str, FireKey { job_id, cause, fire_no, part }: FireKey) -> u128 {
    let (job_id, fire_no, part) = (job_id.to_be_bytes(), fire_no.to_be_bytes(), part.to_be_bytes());
    let cause = cause.as_str().as_bytes();
    digest([cluster.as_bytes(), b" trace ", &job_id, cause, &fire_no, &part])
}

/// Of bytes, not of a text: it is made for each run, and a text costs more than its digest.
fn digest<const N: usize>(parts: [&[u8]; N]) -> u128 {
    let mut digest = Md5::new();
    parts.into_iter().for_each(|part| digest.update(part));
    u128::from_be_bytes(digest.finalize().into())
}

/// Lower-case digits of this length alone.
fn hexadecimal(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_whole = text.len() == digits && text.bytes().all(is_digit);
    if is_whole { u128::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;

    const INCOMING: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn key(fire_no: i64) -> FireKey {
        FireKey { job_id: 7, cause: Cause::Schedule, fire_no, part: 0 }
    }

    #[test]
    fn what_is_no_trace_context_is_ignored() {
        assert_eq!(Traceparent::parse(INCOMING).map(|it| it.to_string()).as_deref(), Some(INCOMING));
        // A later version is read as far as this one goes, and continued as this one.
        let later = Traceparent::parse("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff-what").unwrap();
        assert_eq!(later.to_string(), INCOMING);
        for wrong in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
        ] {
            assert_eq!(Traceparent::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn attempts_of_a_fire_share_a_trace_and_each_run_is_a_span() {
        let of = |cluster: &str, fire_no, run_id| Traceparent::of_run(cluster, key(fire_no), run_id, None);
        let (first, second) = (of("a", 1, 10), of("a", 1, 11));
        assert_eq!(first, of("a", 1, 10), "each node finds the same");
        assert_eq!(first.trace_id(), second.trace_id());
        assert_ne!(first, second);
        assert_ne!(first.trace_id(), of("a", 2, 10).trace_id(), "another fire");
        assert_ne!(first.trace_id(), of("b", 1, 10).trace_id(), "another installation");
        assert_eq!(Traceparent::parse(&first.to_string()), Some(first));
    }

    #[test]
    fn the_trace_of_the_request_goes_on() {
        let unsampled = Traceparent::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00").unwrap();
        let run = Traceparent::of_run("a", key(1), 10, Some(unsampled)).to_string();
        assert!(run.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && run.ends_with("-00"), "{run}");
        assert!(!run.contains("00f067aa0ba902b7"), "the run is a span of its own: {run}");
    }
}
