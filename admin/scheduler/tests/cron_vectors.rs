//! Every judged expression of xxl-job's own parser (3.4), under its policy for clock changes.

use carillon_scheduler::{ClockChanges, CronSchedule, Millis};

const VECTORS: &str = include_str!("cron_vectors.tsv");

fn millis(text: &str) -> Millis {
    chrono::DateTime::parse_from_rfc3339(text)
        .expect("the vectors hold RFC 3339 times")
        .timestamp_millis()
}

/// What we say to a row, in the form of its last three columns.
fn answer(expression: &str, zone: &str, from: &str) -> Vec<Option<Millis>> {
    let Ok(schedule) = CronSchedule::parse(expression, zone, ClockChanges::Xxl) else {
        return vec![];
    };
    let mut at = Some(millis(from));
    (0..3)
        .map(|_| {
            at = at.and_then(|at| schedule.next_after(at));
            at
        })
        .collect()
}

#[test]
fn all_316_rows_agree_under_the_policy_xxl() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in VECTORS.lines().skip(1) {
        rows += 1;
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, expression, zone, from, next @ ..] = columns.as_slice() else {
            panic!("{line}")
        };
        let expected: Vec<Option<Millis>> = match next {
            ["ERR", ..] => vec![],
            next => next
                .iter()
                .map(|&at| (at != "-").then(|| millis(at)))
                .collect(),
        };
        let answer = answer(&expression.replace("\\t", "\t"), zone, from);
        if answer != expected {
            wrong.push(format!(
                "{id} {expression} {zone} {from}: {answer:?}, not {expected:?}"
            ));
        }
    }
    assert_eq!(rows, 316);
    assert!(
        wrong.is_empty(),
        "{} rows differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
