//! What became of each option of a line.

use carillon_scheduler::HttpDraft;

/// The request that a line describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurlRequest {
    /// Without credentials: it names secrets in their place.
    pub request: HttpDraft,
    /// The line has a time for the answer; otherwise that of the request is the default.
    pub has_timeout: bool,
    pub notes: Vec<Note>,
}

/// An option, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// As the line has it, with the name of a header: `-H Accept`. It has no other value of the line.
    pub option: String,
    pub meaning: Meaning,
}

/// What became of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    Method,
    Url,
    Header,
    Body,
    Timeout,
    /// It names a secret already.
    Authentication,
    /// Its value was a credential; the request names this secret in its place.
    Secret(String),
    /// It was a user without a password; the secret is the value of the header `Authorization` for it.
    UserSecret(String),
    Ignored(Ignored),
    Unavailable(Unavailable),
}

/// Why an option makes no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// HTTP jobs do so anyway.
    Default,
    /// It is about what curl prints and writes.
    Output,
    /// The expected status decides.
    Status,
    /// Answers are not compressed.
    Compression,
    /// The server decides how it connects.
    Connection,
    /// The retries of the job count.
    Retries,
    /// The server writes this header.
    WrittenByServer,
    /// It removes a header that is not sent anyway.
    RemovedHeader,
    /// The fragment of a URL is never sent.
    Fragment,
}

/// What an HTTP job cannot do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// A redirect is not followed.
    Redirects,
    /// Certificates are always checked.
    UncheckedTls,
    /// Own authorities, and certificates of the client.
    Certificates,
    Proxy,
    /// Another address than that of the URL.
    Address,
    /// Authentication that is computed for each request, or read from a file.
    Authentication,
    /// Another `Host` than that of the URL.
    Host,
    /// A variable of the shell.
    Variable,
}
