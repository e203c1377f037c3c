//! `carillon next`, on the real binary.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::program::{carillon, ended};

/// What xxl-job's own parser says to 316 expressions.
const VECTORS: &str = include_str!("../../../scheduler/tests/cron_vectors.tsv");

/// Runs it with these lines on standard input.
fn answered(arguments: &[&str], questions: String) -> String {
    let mut command = carillon(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    said
}

#[test]
fn all_316_vectors_agree_under_the_policy_xxl() {
    let rows: Vec<Vec<&str>> = VECTORS.lines().skip(1).map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows.len(), 316);
    let questions = rows.iter().map(|row| row[1..4].join("\t") + "\n").collect();
    let answers = answered(&["next", "--stdin", "--count", "3", "--clock-changes", "xxl"], questions);
    assert_eq!(answers.lines().count(), 316);
    for (row, answer) in rows.iter().zip(answers.lines()) {
        match answer.split_once('\t') {
            Some(("ERR", message)) => {
                assert!(row[4] == "ERR" && !message.is_empty(), "{row:?}: {answer}")
            }
            _ => assert_eq!(answer, row[4..].join("\t"), "{row:?}"),
        }
    }
}

fn told(arguments: &[&str]) -> String {
    let (code, out, err) = ended(carillon(&[&["next"], arguments].concat()));
    assert_eq!(code, Some(0), "{err}");
    out
}

#[test]
fn one_expression_is_answered_line_by_line() {
    let zone = ["--timezone", "America/New_York", "--from", "2025-03-08T12:00:00-05:00", "--count", "2"];
    let daily = [&["--cron", "0 30 2 * * ?"], &zone[..]].concat();
    assert_eq!(told(&daily), "2025-03-09T03:00:00-04:00\n2025-03-10T02:30:00-04:00\n");
    let plain = |expression| told(&[&[expression], &zone[..]].concat());
    assert_eq!(plain("0 30 2 * * ?"), told(&daily), "six fields");
    assert_eq!(plain("30 2 * * *"), told(&daily), "five fields, as in a crontab");
    let as_xxl = [&daily[..], &["--clock-changes", "xxl"]].concat();
    assert_eq!(told(&as_xxl), "2025-03-10T02:30:00-04:00\n2025-03-11T02:30:00-04:00\n");
    let never = ["--cron", "0 0 0 30 2 ?", "--count", "2"];
    assert_eq!(told(&never), "-\n-\n");
    assert_eq!(told(&["--cron", "* * * * * ?"]).lines().count(), 5);
}

#[test]
fn what_is_wrong_is_said_with_exit_code_2() {
    for (arguments, said) in [
        (&["--cron", "0 0 25 * * ?"][..], "hour field: 25 is not allowed"),
        (&["--cron", "0 0 0 * * ?", "--timezone", "Mars"], "`Mars` is not a time zone"),
        (&["--cron", "0 0 0 * * ?", "--from", "now"], "`now` is no time"),
        (&["--cron", "0 0 0 * * ?", "--count", "0"], "--count"),
        (&["--cron", "0 0 0 * * ?", "--clock-changes", "java"], "[possible values: carillon, xxl]"),
        (&["--cron", "0 0 0 * * ?", "--stdin"], "cannot be used with"),
        (&[], "--stdin"),
    ] {
        let (code, out, err) = ended(carillon(&[&["next"], arguments].concat()));
        assert_eq!((code, &out[..]), (Some(2), ""), "{arguments:?}");
        assert!(err.contains(said), "{said:?} is not in {err:?}");
    }
}

/// Far more is written than a pipe holds, and the reader leaves after one line.
#[test]
fn a_closed_pipe_is_no_failure() {
    let shell = |arguments: &str| {
        let script = format!("\"$0\" next {arguments} | head -n 1; exit ${{PIPESTATUS[0]}}");
        let mut command = Command::new("bash");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_carillon")]).stdin(Stdio::null());
        ended(command)
    };
    let from = "--from 2025-01-01T00:00:00Z";
    let (code, out, err) = shell(&format!("--cron '* * * * * ?' --count 100000 {from}"));
    assert_eq!((code, &out[..], &err[..]), (Some(0), "2025-01-01T00:00:01+00:00\n", ""));
    let lines = "--stdin --count 100000 < <(yes $'* * * * * ?\\tUTC\\t2025-01-01T00:00:00Z' | head -n 20)";
    let (code, out, err) = shell(lines);
    assert_eq!((code, &err[..]), (Some(0), ""));
    assert!(out.starts_with("2025-01-01T00:00:01+00:00\t2025-01-01T00:00:02+00:00\t"));
}
