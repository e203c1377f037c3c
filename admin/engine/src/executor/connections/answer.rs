//! One answer of an executor: its status, and its body up to a limit.

use std::io;

use carillon_protocol::headers::RECEIVED_AT;
use httparse::{EMPTY_HEADER, Response, Status, parse_chunk_size, parse_headers};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::executor::outcome::moment;

/// Bytes of the first lines and headers, and of the headers behind a body in chunks.
const HEAD_LIMIT: usize = 16 << 10;
const MOST_HEADERS: usize = 256;
/// Answers of executors are shorter.
const READ_SIZE: usize = 4 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    /// Where a redirect leads.
    pub location: Option<Vec<u8>>,
    /// See [`RECEIVED_AT`].
    pub received_at: Option<i64>,
    /// Another request may follow on its connection.
    pub keeps_connection: bool,
}

/// Reads an answer. `buffer` has what was read of it before, and has what follows it afterwards.
///
/// # Errors
/// It is cut, or no HTTP.
pub(super) async fn read_answer<R: AsyncRead + Unpin>(
    source: &mut R,
    buffer: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Answer> {
    let mut reader = Reader { source, buffer };
    let mut head = reader.head().await?;
    // "Continue" and its like come before the answer.
    while head.status < 200 {
        head = reader.head().await?;
    }
    let mut body = Body { bytes: vec![], limit };
    let is_whole = reader.body(head.framing, &mut body).await?;
    let keeps_connection = head.keeps_connection && is_whole && buffer.is_empty();
    let Head { status, location, received_at, .. } = head;
    Ok(Answer { status, body: body.bytes, location, received_at, keeps_connection })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
    /// Up to the end of the connection.
    UntilEnd,
}

struct Head {
    status: u16,
    location: Option<Vec<u8>>,
    received_at: Option<i64>,
    keeps_connection: bool,
    framing: Framing,
}

impl Head {
    /// RFC 9112, sections 6.3 and 9.3.
    fn of(response: &Response) -> io::Result<Self> {
        let status = response.code.unwrap_or_default();
        let mut keeps_connection = response.version == Some(1);
        let (mut length, mut encoding, mut location, mut received_at) = (None, None, None, None);
        for header in response.headers.iter() {
            let value = header.value.trim_ascii();
            if header.name.eq_ignore_ascii_case("content-length") {
                let parsed = parse_length(value).filter(|parsed| length.is_none_or(|before| before == *parsed));
                length = Some(parsed.ok_or_else(|| invalid("its content-length is wrong"))?);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                encoding = Some(value);
            } else if header.name.eq_ignore_ascii_case("location") {
                location = Some(value.to_vec());
            } else if header.name.eq_ignore_ascii_case(RECEIVED_AT) {
                received_at = moment(value);
            } else if header.name.eq_ignore_ascii_case("connection") {
                keeps_connection = (keeps_connection || has_word(value, "keep-alive")) && !has_word(value, "close");
            }
        }
        let is_chunked =
            |encoding: &[u8]| encoding.rsplit(|byte| *byte == b',').next().is_some_and(|last| is_word(last, "chunked"));
        let framing = match (encoding, length) {
            _ if status < 200 || status == 204 || status == 304 => Framing::Length(0),
            (Some(encoding), _) if is_chunked(encoding) => Framing::Chunked,
            (Some(_), _) | (None, None) => Framing::UntilEnd,
            (None, Some(length)) => Framing::Length(length),
        };
        // An answer with both was changed on its way; where the next one begins is not certain.
        keeps_connection &= framing != Framing::UntilEnd && (encoding.is_none() || length.is_none());
        Ok(Self { status, location, received_at, keeps_connection, framing })
    }
}

struct Body {
    bytes: Vec<u8>,
    limit: usize,
}

struct Reader<'a, R> {
    source: &'a mut R,
    buffer: &'a mut Vec<u8>,
}

impl<R: AsyncRead + Unpin> Reader<'_, R> {
    /// 0: the connection has ended.
    async fn read(&mut self) -> io::Result<usize> {
        self.buffer.reserve(READ_SIZE);
        self.source.read_buf(self.buffer).await
    }

    /// Reads what must follow.
    async fn fill(&mut self) -> io::Result<()> {
        match self.read().await? {
            0 => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the connection was closed before the answer was complete",
            )),
            _ => Ok(()),
        }
    }

    /// What `parse` finds at the begin of the buffer, which it then leaves.
    async fn parsed<T>(&mut self, parse: impl Fn(&[u8]) -> io::Result<Status<(usize, T)>>) -> io::Result<T> {
        let mut seen = 0;
        loop {
            // What is parsed ends with a line: before the next end of a line there is nothing new to find.
            if self.buffer[seen..].contains(&b'\n')
                && let Status::Complete((length, found)) = parse(self.buffer)?
            {
                self.buffer.drain(..length);
                return Ok(found);
            }
            seen = self.buffer.len();
            if seen >= HEAD_LIMIT {
                return Err(invalid("its head is too long"));
            }
            self.fill().await?;
        }
    }

    async fn head(&mut self) -> io::Result<Head> {
        self.parsed(|bytes| {
            let mut headers = [EMPTY_HEADER; MOST_HEADERS];
            let mut response = Response::new(&mut headers);
            match response.parse(bytes).map_err(invalid)? {
                Status::Complete(length) => Ok(Status::Complete((length, Head::of(&response)?))),
                Status::Partial => Ok(Status::Partial),
            }
        })
        .await
    }

    /// False: it has more than the limit, and was not read to its end.
    async fn body(&mut self, framing: Framing, body: &mut Body) -> io::Result<bool> {
        match framing {
            Framing::Length(length) => self.part(length, body).await,
            Framing::Chunked => self.chunks(body).await,
            Framing::UntilEnd => loop {
                if !self.take(u64::MAX, body).1 {
                    return Ok(false);
                }
                if self.read().await? == 0 {
                    return Ok(true);
                }
            },
        }
    }

    async fn chunks(&mut self, body: &mut Body) -> io::Result<bool> {
        loop {
            let size = |bytes: &[u8]| parse_chunk_size(bytes).map_err(|_| invalid("a size of its chunks is wrong"));
            let size = self.parsed(size).await?;
            if size == 0 {
                break;
            }
            if !self.part(size, body).await? {
                return Ok(false);
            }
            self.parsed(line_end).await?;
        }
        let trailers = |bytes: &[u8]| {
            let mut headers = [EMPTY_HEADER; MOST_HEADERS];
            Ok(match parse_headers(bytes, &mut headers).map_err(invalid)? {
                Status::Complete((length, _)) => Status::Complete((length, ())),
                Status::Partial => Status::Partial,
            })
        };
        self.parsed(trailers).await?;
        Ok(true)
    }

    /// Moves the next `left` bytes into the body. False: the body has no room for them.
    async fn part(&mut self, mut left: u64, body: &mut Body) -> io::Result<bool> {
        loop {
            let (taken, fits) = self.take(left, body);
            left -= taken;
            if left == 0 || !fits {
                return Ok(fits);
            }
            self.fill().await?;
        }
    }

    /// Moves what is in the buffer into the body, at most `most` bytes: how many, and whether there was room for them.
    fn take(&mut self, most: u64, body: &mut Body) -> (u64, bool) {
        let wanted = usize::try_from(most).unwrap_or(usize::MAX).min(self.buffer.len());
        let count = wanted.min(body.limit - body.bytes.len());
        body.bytes.extend(self.buffer.drain(..count));
        (count as u64, count == wanted)
    }
}

fn line_end(bytes: &[u8]) -> io::Result<Status<(usize, ())>> {
    match bytes {
        [b'\r', b'\n', ..] => Ok(Status::Complete((2, ()))),
        [] | [b'\r'] => Ok(Status::Partial),
        _ => Err(invalid("a chunk of it has no end")),
    }
}

fn parse_length(value: &[u8]) -> Option<u64> {
    let is_number = value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()
}

fn has_word(list: &[u8], word: &str) -> bool {
    list.split(|byte| *byte == b',').any(|part| is_word(part, word))
}

fn is_word(part: &[u8], word: &str) -> bool {
    part.trim_ascii().eq_ignore_ascii_case(word.as_bytes())
}

fn invalid(why: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the answer is no HTTP: {}", why.to_string()))
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
