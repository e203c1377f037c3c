//! One connection to an executor.
//!
//! It is used by one task at a time. An idle one belongs to no task: what the executor did to it meanwhile is seen when it is used
//! next.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::executor::connections::answer::{Answer, read_answer};

pub(super) struct Connection {
    stream: TcpStream,
    /// Bytes of an answer that were read and not yet used.
    read: Vec<u8>,
    pub used_at: Instant,
}

pub(super) enum Exchange {
    Answered(Answer),
    /// The executor had closed the connection before.
    NotWritten,
    /// From the first byte on a request without an answer is unknown.
    Failed(io::Error),
}

enum Written {
    All,
    /// The executor answers before it has read all.
    Answered,
    Nothing,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, read: vec![], used_at: Instant::now() }
    }

    /// Sends a request and reads at most `limit` bytes of the answer's body. `is_written` is set before the first byte can leave.
    pub(super) async fn exchange(&mut self, request: &[u8], limit: usize, is_written: &AtomicBool) -> Exchange {
        if self.has_ended() {
            return Exchange::NotWritten;
        }
        is_written.store(true, Ordering::Relaxed);
        let is_read = match self.write(request).await {
            Ok(Written::All) => true,
            Ok(Written::Answered) => false,
            Ok(Written::Nothing) => {
                is_written.store(false, Ordering::Relaxed);
                return Exchange::NotWritten;
            }
            Err(error) => return Exchange::Failed(error),
        };
        match read_answer(&mut self.stream, &mut self.read, limit).await {
            Ok(answer) => {
                let keeps_connection = answer.keeps_connection && is_read;
                Exchange::Answered(Answer { keeps_connection, ..answer })
            }
            Err(error) => Exchange::Failed(error),
        }
    }

    /// Between two requests an executor sends nothing: what there is to read is the end of the connection, or no answer of ours.
    fn has_ended(&self) -> bool {
        !matches!(self.stream.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    async fn write(&mut self, request: &[u8]) -> io::Result<Written> {
        let mut left = request;
        loop {
            match self.stream.try_write(left) {
                Ok(count) => left = &left[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) if left.len() == request.len() => return Ok(Written::Nothing),
                Err(error) => return Err(error),
            }
            if left.is_empty() {
                return Ok(Written::All);
            }
            // Short requests do not come here: the system takes them whole.
            self.stream.ready(Interest::WRITABLE | Interest::READABLE).await?;
            match self.stream.try_read_buf(&mut self.read) {
                // Also at its end: what was read is no answer then.
                Ok(_) => return Ok(Written::Answered),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}
