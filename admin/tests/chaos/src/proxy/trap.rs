//! What is done once, to the next message of a kind.

use std::time::Duration;

/// Waits for a piece from a client that contains some bytes.
#[derive(Clone, Debug)]
pub struct Trap {
    needle: Vec<u8>,
    pub(super) trick: Trick,
    pub(super) left: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trick {
    /// The request is passed on whole, then the connection ends: the client cannot know what became of the request.
    CutForwarded,
    /// The request is passed on, and the server's answer is swallowed; then the connection ends.
    LoseAnswer,
    /// The request is not passed on; the client gets this, and the connection ends.
    Answer(String),
    /// The request is passed on after this time, when its client has given up, over a connection of its own.
    Hold(Duration),
    /// The request is passed on, and the client gets this in the place of the server's answer.
    Replace(String),
}

impl Trap {
    pub fn new(needle: impl Into<Vec<u8>>, trick: Trick, times: u32) -> Self {
        Self { needle: needle.into(), trick, left: times }
    }

    pub(super) fn waits_for(&self, needle: &str) -> bool {
        self.needle == needle.as_bytes()
    }

    /// Not case-sensitive: databases' clients write `COMMIT` as they like.
    pub(super) fn fits(&self, piece: &[u8]) -> bool {
        !self.needle.is_empty()
            && piece.windows(self.needle.len()).any(|window| window.eq_ignore_ascii_case(&self.needle))
    }
}

/// An HTTP answer that ends its connection.
pub fn http(status: &str, content_type: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
