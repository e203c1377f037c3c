//! What the end of a run's log says of its outcome. Only ends that an executor itself writes, and that are whole, count:
//! a handler may print anything.

/// An end that is beyond doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// As in a callback.
    pub code: i32,
    pub message: Option<String>,
}

/// Lines of Java's thread that runs the handler (`time [class#method]-[line]-[thread] text`); a handler's own lines have
/// the handler's class there.
const JAVA_THREAD: &str = "[com.xxl.job.core.thread.JobThread#run]-[";
const JAVA_RESULT: &str = "----------- xxl-job job execute end(finish) -----------<br>----------- Result: handleCode=";
const JAVA_MESSAGE: &str = ", handleMsg = ";
const JAVA_EXCEPTION: &str = "<br>----------- JobThread Exception:";
const JAVA_ERROR: &str = "<br>----------- xxl-job job execute end(error) -----------";

/// The function of pyxxl that runs a handler, as its log lines name it; it says once that the handler has returned.
const PYXXL_THREAD: &str = "executor.py(_run:";

impl End {
    /// None: the log does not say how the run has ended, or whether.
    pub fn of(log: &str, job_id: i64, run_id: i64) -> Option<Self> {
        of_java(log).or_else(|| of_pyxxl(log, job_id, run_id))
    }
}

fn of_java(log: &str) -> Option<End> {
    let mut starts = stamped_lines(log);
    let at = starts.rfind(|at| log[at + STAMP..].starts_with(JAVA_THREAD))?;
    let next = stamped_lines(&log[at + 1..]).next();
    let entry = &log[at..next.map_or(log.len(), |next| at + 1 + next)];
    let (first_line, _) = entry.split_once('\n')?;
    if let Some((_, result)) = entry.split_once(JAVA_RESULT) {
        let (code, message) = result.split_once(JAVA_MESSAGE)?;
        let message = message.trim_end_matches('\n');
        return Some(End {
            code: code.parse().ok().filter(|code| *code > 0)?,
            message: (message != "null").then(|| message.to_owned()),
        });
    }
    let (_, exception) = first_line.split_once(JAVA_EXCEPTION)?;
    entry.trim_end().ends_with(JAVA_ERROR).then(|| End { code: 500, message: Some(exception.replace(JAVA_ERROR, "")) })
}

/// `yyyy-MM-dd HH:mm:ss `
const STAMP: usize = 20;

/// Where the lines begin that have the time in front: an entry of several lines has it once.
fn stamped_lines(log: &str) -> impl DoubleEndedIterator<Item = usize> {
    let starts = std::iter::once(0).chain(log.match_indices('\n').map(|(at, _)| at + 1));
    let starts: Vec<usize> = starts.filter(|at| log.as_bytes()[*at..].get(..STAMP).is_some_and(is_stamp)).collect();
    starts.into_iter()
}

fn is_stamp(text: &[u8]) -> bool {
    let form = b"0000-00-00 00:00:00 ";
    text.iter().zip(form).all(|(found, form)| match form {
        b'0' => found.is_ascii_digit(),
        sign => found == sign,
    })
}

fn of_pyxxl(log: &str, job_id: i64, run_id: i64) -> Option<End> {
    let end = format!(" - Job finished jobId={job_id} logId={run_id}");
    // Only its failure to report the result can follow.
    let is_end = |line: &str| line.contains(PYXXL_THREAD) && line.ends_with(&end);
    log.lines().any(is_end).then_some(End { code: 200, message: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "2023-11-09 09:33:30 [com.xxl.job.core.thread.JobThread#run]-[133]-[xxl-job, JobThread-5-1] \
                         <br>----------- xxl-job job execute start -----------<br>----------- Param:null\n";
    const CALLBACK: &str = "2023-11-09 09:33:31 [com.xxl.job.core.thread.TriggerCallbackThread#callbackLog]-[197]-[xxl-job, executor \
                            TriggerCallbackThread] <br>----------- xxl-job job callback error, errorMsg:refused\n";

    fn java(text: &str) -> String {
        format!("2023-11-09 09:33:30 [com.xxl.job.core.thread.JobThread#run]-[179]-[xxl-job, JobThread-5-1] {text}\n")
    }

    fn result(code: &str, message: &str) -> String {
        java(&format!("<br>{JAVA_RESULT}{code}{JAVA_MESSAGE}{message}"))
    }

    fn end(log: &str) -> Option<(i32, Option<String>)> {
        End::of(log, 5, 77).map(|end| (end.code, end.message))
    }

    #[test]
    fn java_says_how_a_run_has_ended() {
        let log = format!("{BEGIN}{}{CALLBACK}", result("200", "null"));
        assert_eq!(end(&log), Some((200, None)));
        let log = format!("{BEGIN}{}{CALLBACK}", result("500", "no\ndisk"));
        assert_eq!(end(&log), Some((500, Some("no\ndisk".into()))));
        let exception = java(&format!("{JAVA_EXCEPTION}java.lang.Error: no\n\tat A.b(A.java:1)\n{JAVA_ERROR}"));
        let log = format!("{BEGIN}{exception}{CALLBACK}");
        assert_eq!(end(&log), Some((500, Some("java.lang.Error: no".into()))));
    }

    #[test]
    fn pyxxl_says_that_a_run_has_succeeded() {
        let line = |text: &str| {
            format!("2026-11-22 04:00:00.123 [MainThread] [77] INFO /venv/pyxxl/executor.py(_run:279) - {text}\n")
        };
        let log = line("Start job jobId=5 logId=77 []") + &line("Job finished jobId=5 logId=77");
        assert_eq!(end(&log), Some((200, None)));
        assert_eq!(end(&line("Job finished jobId=5 logId=770")), None);
        let more = log + &line("Connection error after retry times 3");
        assert_eq!(end(&more), Some((200, None)));
    }

    #[test]
    fn what_a_handler_prints_is_no_end() {
        let by_handler = result("200", "null").replace("com.xxl.job.core.thread.JobThread#run", "com.acme.Orders#sync");
        for log in [
            String::new(),
            "xxx".into(),
            BEGIN.into(),
            format!("{BEGIN}{by_handler}"),
            format!("{BEGIN}{}", java("xxl-job job execute end(finish)")),
            // The line is not whole.
            format!("{BEGIN}{}", result("200", "null").trim_end().replace(JAVA_MESSAGE, "")),
            format!("{BEGIN}{}", result("0", "null")),
            // The thread has gone on after it.
            format!("{}{BEGIN}", result("200", "null")),
            "Job finished jobId=5 logId=77".into(),
        ] {
            assert_eq!(end(&log), None, "{log}");
        }
    }
}
