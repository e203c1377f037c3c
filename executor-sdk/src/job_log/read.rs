//! Reading a run's log, page by page.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind};

use carillon_protocol::{LogPage, LogRequest};

use super::job_logs::JobLogs;

/// Bytes of text in one page.
const MAX_PAGE_BYTES: usize = 256 << 10;

impl JobLogs {
    /// Whole lines from the requested one on, at most 256 KiB; `None` if there is no file. A last line without a line
    /// end is left for a later page. `finished`: the log is complete, so the last page is marked as the end.
    pub(crate) fn page(&self, request: LogRequest, finished: bool) -> io::Result<Option<LogPage>> {
        let Some(path) = self.path(request.log_date_time, request.log_id) else {
            return Ok(None);
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !self.contains(&path)? {
            return Ok(None);
        }
        let from_line = request.from_line.max(1);
        let (lines, content, at_end) = read_lines(BufReader::with_capacity(1 << 16, file), from_line)?;
        Ok(Some(LogPage { from_line, to_line: from_line - 1 + lines, content, is_end: finished && at_end }))
    }
}

/// Number of lines, their text, and whether the end of the file was reached.
fn read_lines(mut file: impl BufRead, from_line: i64) -> io::Result<(i64, String, bool)> {
    let mut line = Vec::new();
    for _ in 1..from_line {
        if file.skip_until(b'\n')? == 0 {
            return Ok((0, String::new(), true));
        }
    }
    let (mut lines, mut content) = (0, String::new());
    loop {
        line.clear();
        file.read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok((lines, content, line.is_empty()));
        }
        if content.len() + line.len() > MAX_PAGE_BYTES && lines > 0 {
            return Ok((lines, content, false));
        }
        content.push_str(&String::from_utf8_lossy(&line));
        lines += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PAGE_BYTES, read_lines};

    #[test]
    fn whole_lines_from_the_wanted_one_on() {
        let file = b"one\ntwo\nthree\nhal";
        assert_eq!(read_lines(&file[..], 1).unwrap(), (3, "one\ntwo\nthree\n".into(), false));
        assert_eq!(read_lines(&file[..], 3).unwrap(), (1, "three\n".into(), false));
        assert_eq!(read_lines(&file[..13], 4).unwrap(), (0, String::new(), true));
        assert_eq!(read_lines(&file[..], i64::MAX).unwrap(), (0, String::new(), true));
    }

    #[test]
    fn a_page_is_bounded_but_never_empty() {
        let line = format!("{}\n", "x".repeat(100_000));
        let (lines, content, at_end) = read_lines(line.repeat(4).as_bytes(), 1).unwrap();
        assert_eq!((lines, at_end), (2, false));
        assert!(content.len() <= MAX_PAGE_BYTES);
        let long = format!("{}\n", "x".repeat(MAX_PAGE_BYTES + 1));
        assert_eq!(read_lines(long.as_bytes(), 1).unwrap().0, 1);
    }
}
