//! What a script prints, line by line into the log of its run.

use std::sync::{Arc, Mutex, PoisonError};

use carillon_executor::JobContext;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// A line that is longer is written as several.
const LINE: u64 = 64 << 10;

/// The last line that was not empty.
#[derive(Clone, Default)]
pub struct LastLine(Arc<Mutex<String>>);

impl LastLine {
    pub fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, line: &str) {
        if !line.trim().is_empty() {
            line.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Copies a stream into the log until it ends. What is no UTF-8 is replaced.
pub async fn copy(stream: impl AsyncRead + Unpin, ctx: JobContext, last: LastLine) {
    let mut reader = BufReader::new(stream);
    let mut line = vec![];
    loop {
        line.clear();
        match (&mut reader).take(LINE).read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line));
        let text = text.strip_suffix('\r').unwrap_or(&text);
        ctx.log(text);
        last.set(text);
    }
}
