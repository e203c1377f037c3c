//! Questions from standard input, one line each.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use super::query::NextQuery;
use crate::cli::arguments::time;

/// Answers each line with one line. Every answer is out before the next question is waited for, so a program may ask
/// and read in turns.
pub fn answer(query: &NextQuery<'_>, questions: impl Read, answers: impl Write) -> io::Result<()> {
    let mut questions = BufReader::with_capacity(1 << 16, questions);
    let mut answers = BufWriter::with_capacity(1 << 16, answers);
    let mut line = Vec::new();
    while questions.read_until(b'\n', &mut line)? > 0 {
        match reply(query, &line) {
            Ok(instants) => writeln!(answers, "{}", instants.join("\t"))?,
            Err(message) => writeln!(answers, "ERR\t{}", in_one_line(&message))?,
        }
        line.clear();
        if questions.buffer().is_empty() {
            answers.flush()?;
        }
    }
    answers.flush()
}

/// The zone and the time are the last two columns, so that a TAB inside an expression is still part of it.
fn reply(query: &NextQuery<'_>, line: &[u8]) -> Result<Vec<String>, String> {
    let line = std::str::from_utf8(line).map_err(|_| "the line is no UTF-8".to_owned())?;
    let line = line.strip_suffix('\n').unwrap_or(line);
    let mut columns = line.rsplitn(3, '\t');
    let (Some(from), Some(zone), Some(expression)) = (columns.next(), columns.next(), columns.next()) else {
        return Err("a line has three columns: expression, zone, from, with TABs between".to_owned());
    };
    let query = NextQuery { expression, zone, ..*query };
    query.instants(time(from)?)
}

/// A message may quote what was sent.
fn in_one_line(message: &str) -> String {
    message.replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use carillon_scheduler::ClockChanges;

    fn answered(questions: &[u8]) -> String {
        let query =
            NextQuery { expression: "", is_unix: false, zone: "UTC", count: 2, clock_changes: ClockChanges::Carillon };
        let mut answers = vec![];
        answer(&query, questions, &mut answers).unwrap();
        String::from_utf8(answers).unwrap()
    }

    #[test]
    fn each_line_has_its_answer() {
        let answers = answered(
            b"0 30 2 * * ?\tAmerica/New_York\t2025-03-08T12:00:00-05:00\n\
              0\t0\t0 1 1 ? 2026\tUTC\t2025-01-01T00:00:00Z\n\
              0 0 0 30 2 ?\tUTC\t2025-01-01T00:00:00Z\r\n\
              0 0 25 * * ?\tUTC\t2025-01-01T00:00:00Z\n\
              0 0 0 * * ?\tMars/Olympus\t2025-01-01T00:00:00Z\n\
              0 0 0 * * ?\tUTC\ttomorrow\n\
              \n\
              \xff\tUTC\t2025-01-01T00:00:00Z",
        );
        let lines: Vec<&str> = answers.lines().collect();
        assert_eq!(
            lines[..3],
            ["2025-03-09T03:00:00-04:00\t2025-03-10T02:30:00-04:00", "2026-01-01T00:00:00+00:00\t-", "-\t-",]
        );
        for (line, said) in lines[3..].iter().zip([
            "hour field: 25 is not allowed",
            "`Mars/Olympus` is not a time zone",
            "`tomorrow` is no time",
            "three columns",
            "UTF-8",
        ]) {
            assert!(line.starts_with("ERR\t") && line.contains(said), "{line}");
        }
        assert_eq!(lines.len(), 8);
    }

    #[test]
    fn a_message_stays_in_its_line() {
        let answers = answered(b"0 0 x\ty z\rq * * ?\tUTC\t2025-01-01T00:00:00Z\n");
        assert!(answers.starts_with("ERR\t"), "{answers}");
        assert_eq!((answers.lines().count(), answers.matches('\t').count()), (1, 1));
    }
}
