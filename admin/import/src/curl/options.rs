//! The options of curl, and what an HTTP job makes of them.

use super::notes::{Ignored, Unavailable};

/// What an option is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Method,
    Header,
    /// `@` at its start names a file.
    Data,
    RawData,
    UrlEncodedData,
    Json,
    User,
    Bearer,
    Url,
    Get,
    Head,
    UserAgent,
    Referer,
    Cookie,
    MaxTime,
    Ignored(Ignored),
    Unavailable(Unavailable),
    /// It makes another request than an HTTP job can send.
    NoCounterpart,
    ReadsFile,
}

/// An option by its names.
pub(super) struct CurlOption {
    long: &'static str,
    short: Option<char>,
    pub takes_value: bool,
    pub kind: Kind,
}

/// The option with this name behind `--`.
pub(super) fn with_long_name(name: &str) -> Option<&'static CurlOption> {
    OPTIONS.iter().find(|option| option.long == name)
}

/// The option with this letter.
pub(super) fn with_letter(letter: char) -> Option<&'static CurlOption> {
    OPTIONS.iter().find(|option| option.short == Some(letter))
}

/// `--no-NAME` switches off what NAME switches on, and so does no harm.
pub(super) fn switched_off(name: &str) -> Option<&'static CurlOption> {
    static OFF: CurlOption = flag("", None, Kind::Ignored(Ignored::Default));
    let option = with_long_name(name.strip_prefix("no-")?)?;
    (!option.takes_value).then_some(&OFF)
}

const fn flag(long: &'static str, short: Option<char>, kind: Kind) -> CurlOption {
    CurlOption { long, short, takes_value: false, kind }
}

const fn value(long: &'static str, short: Option<char>, kind: Kind) -> CurlOption {
    CurlOption { long, short, takes_value: true, kind }
}

const DEFAULT: Kind = Kind::Ignored(Ignored::Default);
const OUTPUT: Kind = Kind::Ignored(Ignored::Output);
const STATUS: Kind = Kind::Ignored(Ignored::Status);
const COMPRESSION: Kind = Kind::Ignored(Ignored::Compression);
const CONNECTION: Kind = Kind::Ignored(Ignored::Connection);
const RETRIES: Kind = Kind::Ignored(Ignored::Retries);
const REDIRECTS: Kind = Kind::Unavailable(Unavailable::Redirects);
const UNCHECKED_TLS: Kind = Kind::Unavailable(Unavailable::UncheckedTls);
const CERTIFICATES: Kind = Kind::Unavailable(Unavailable::Certificates);
const PROXY: Kind = Kind::Unavailable(Unavailable::Proxy);
const ADDRESS: Kind = Kind::Unavailable(Unavailable::Address);
const AUTHENTICATION: Kind = Kind::Unavailable(Unavailable::Authentication);

/// Those of curl 8 for HTTP, without rare ones.
static OPTIONS: &[CurlOption] = &[
    // The request.
    value("request", Some('X'), Kind::Method),
    value("header", Some('H'), Kind::Header),
    value("data", Some('d'), Kind::Data),
    value("data-ascii", None, Kind::Data),
    value("data-binary", None, Kind::Data),
    value("data-raw", None, Kind::RawData),
    value("data-urlencode", None, Kind::UrlEncodedData),
    value("json", None, Kind::Json),
    value("user", Some('u'), Kind::User),
    value("oauth2-bearer", None, Kind::Bearer),
    value("url", None, Kind::Url),
    flag("get", Some('G'), Kind::Get),
    flag("head", Some('I'), Kind::Head),
    value("user-agent", Some('A'), Kind::UserAgent),
    value("referer", Some('e'), Kind::Referer),
    value("cookie", Some('b'), Kind::Cookie),
    value("max-time", Some('m'), Kind::MaxTime),
    // The default.
    flag("basic", None, DEFAULT),
    flag("globoff", Some('g'), DEFAULT),
    flag("disable", Some('q'), DEFAULT),
    flag("junk-session-cookies", Some('j'), DEFAULT),
    // What curl prints and writes.
    flag("silent", Some('s'), OUTPUT),
    flag("show-error", Some('S'), OUTPUT),
    flag("verbose", Some('v'), OUTPUT),
    flag("include", Some('i'), OUTPUT),
    flag("show-headers", None, OUTPUT),
    flag("no-buffer", Some('N'), OUTPUT),
    flag("progress-bar", Some('#'), OUTPUT),
    flag("progress-meter", None, OUTPUT),
    flag("remote-name", Some('O'), OUTPUT),
    flag("remote-header-name", Some('J'), OUTPUT),
    flag("remote-time", Some('R'), OUTPUT),
    flag("create-dirs", None, OUTPUT),
    flag("styled-output", None, OUTPUT),
    flag("trace-time", None, OUTPUT),
    flag("trace-ids", None, OUTPUT),
    value("output", Some('o'), OUTPUT),
    value("output-dir", None, OUTPUT),
    value("write-out", Some('w'), OUTPUT),
    value("dump-header", Some('D'), OUTPUT),
    value("cookie-jar", Some('c'), OUTPUT),
    value("trace", None, OUTPUT),
    value("trace-ascii", None, OUTPUT),
    value("stderr", None, OUTPUT),
    // Which answers count.
    flag("fail", Some('f'), STATUS),
    flag("fail-with-body", None, STATUS),
    flag("fail-early", None, STATUS),
    flag("compressed", None, COMPRESSION),
    flag("tr-encoding", None, COMPRESSION),
    // The connection.
    flag("ipv4", Some('4'), CONNECTION),
    flag("ipv6", Some('6'), CONNECTION),
    flag("http1.0", Some('0'), CONNECTION),
    flag("http1.1", None, CONNECTION),
    flag("http2", None, CONNECTION),
    flag("http2-prior-knowledge", None, CONNECTION),
    flag("http3", None, CONNECTION),
    flag("keepalive", None, CONNECTION),
    flag("tcp-nodelay", None, CONNECTION),
    flag("tcp-fastopen", None, CONNECTION),
    flag("tlsv1", Some('1'), CONNECTION),
    flag("tlsv1.0", None, CONNECTION),
    flag("tlsv1.1", None, CONNECTION),
    flag("tlsv1.2", None, CONNECTION),
    flag("tlsv1.3", None, CONNECTION),
    flag("ssl-reqd", None, CONNECTION),
    value("tls-max", None, CONNECTION),
    value("ciphers", None, CONNECTION),
    value("connect-timeout", None, CONNECTION),
    value("expect100-timeout", None, CONNECTION),
    value("happy-eyeballs-timeout-ms", None, CONNECTION),
    value("keepalive-time", None, CONNECTION),
    value("limit-rate", None, CONNECTION),
    value("speed-limit", Some('Y'), CONNECTION),
    value("speed-time", Some('y'), CONNECTION),
    value("proto", None, CONNECTION),
    value("proto-default", None, CONNECTION),
    value("proto-redir", None, CONNECTION),
    // Retries.
    flag("retry-all-errors", None, RETRIES),
    flag("retry-connrefused", None, RETRIES),
    value("retry", None, RETRIES),
    value("retry-delay", None, RETRIES),
    value("retry-max-time", None, RETRIES),
    // What an HTTP job does not have.
    flag("location", Some('L'), REDIRECTS),
    flag("location-trusted", None, REDIRECTS),
    flag("post301", None, REDIRECTS),
    flag("post302", None, REDIRECTS),
    flag("post303", None, REDIRECTS),
    value("max-redirs", None, REDIRECTS),
    flag("insecure", Some('k'), UNCHECKED_TLS),
    flag("ssl-no-revoke", None, UNCHECKED_TLS),
    value("cacert", None, CERTIFICATES),
    value("capath", None, CERTIFICATES),
    value("cert", Some('E'), CERTIFICATES),
    value("cert-type", None, CERTIFICATES),
    value("key", None, CERTIFICATES),
    value("key-type", None, CERTIFICATES),
    value("pass", None, CERTIFICATES),
    value("pinnedpubkey", None, CERTIFICATES),
    flag("proxy-insecure", None, PROXY),
    flag("proxytunnel", Some('p'), PROXY),
    value("proxy", Some('x'), PROXY),
    value("proxy-user", Some('U'), PROXY),
    value("proxy-header", None, PROXY),
    value("preproxy", None, PROXY),
    value("noproxy", None, PROXY),
    value("socks5", None, PROXY),
    value("socks5-hostname", None, PROXY),
    value("resolve", None, ADDRESS),
    value("connect-to", None, ADDRESS),
    value("interface", None, ADDRESS),
    value("local-port", None, ADDRESS),
    value("dns-servers", None, ADDRESS),
    value("doh-url", None, ADDRESS),
    value("unix-socket", None, ADDRESS),
    flag("anyauth", None, AUTHENTICATION),
    flag("digest", None, AUTHENTICATION),
    flag("negotiate", None, AUTHENTICATION),
    flag("ntlm", None, AUTHENTICATION),
    flag("netrc", Some('n'), AUTHENTICATION),
    flag("netrc-optional", None, AUTHENTICATION),
    value("netrc-file", None, AUTHENTICATION),
    value("aws-sigv4", None, AUTHENTICATION),
    // Other requests.
    flag("next", Some(':'), Kind::NoCounterpart),
    flag("path-as-is", None, Kind::NoCounterpart),
    value("form", Some('F'), Kind::NoCounterpart),
    value("form-string", None, Kind::NoCounterpart),
    value("range", Some('r'), Kind::NoCounterpart),
    value("continue-at", Some('C'), Kind::NoCounterpart),
    value("time-cond", Some('z'), Kind::NoCounterpart),
    value("request-target", None, Kind::NoCounterpart),
    value("url-query", None, Kind::NoCounterpart),
    value("config", Some('K'), Kind::ReadsFile),
    value("upload-file", Some('T'), Kind::ReadsFile),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_name_and_each_letter_is_of_one_option() {
        let names: BTreeSet<&str> = OPTIONS.iter().map(|option| option.long).collect();
        let letters: Vec<char> = OPTIONS.iter().filter_map(|option| option.short).collect();
        assert_eq!(names.len(), OPTIONS.len());
        assert_eq!(letters.iter().collect::<BTreeSet<_>>().len(), letters.len());
        assert!(switched_off("no-keepalive").is_some() && switched_off("no-data").is_none());
    }
}
