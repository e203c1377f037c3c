//! The time line: a row for each part of the load, a green or red mark for each second, bars for the faults.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::clock::Millis;
use crate::record::{Class, History};

const LEFT: f64 = 130.0;
const WIDTH: f64 = 1400.0;
const ROW: f64 = 16.0;

pub fn draw(history: &History) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = draw_into(history, &mut out);
    out
}

fn draw_into(history: &History, out: &mut String) -> std::fmt::Result {
    let from = history.meta.phases.started_at;
    let to = history.meta.phases.dumped_at.max(from + 1);
    let x = |at: Millis| LEFT + WIDTH * (at - from) as f64 / (to - from) as f64;
    let worst = worst_by_second(history);
    let groups: Vec<&String> = worst.keys().collect();
    let top = 20.0 + ROW * (groups.len() + 1) as f64;
    let height = top + ROW * (history.faults.len() + 3) as f64;
    writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{height}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>"##,
        LEFT + WIDTH + 20.0
    )?;
    for (number, group) in groups.iter().enumerate() {
        let y = 10.0 + ROW * number as f64;
        writeln!(out, r#"<text x="4" y="{}">{group}</text>"#, y + 11.0)?;
        for (second, late) in &worst[*group] {
            let width = (x(from + 1000) - x(from)).max(1.0);
            writeln!(
                out,
                r#"<rect x="{:.1}" y="{y}" width="{width:.1}" height="12" fill="{}"><title>{late} ms</title></rect>"#,
                x(*second),
                colour(*late)
            )?;
        }
    }
    for (number, fault) in history.faults.iter().enumerate() {
        let y = top + ROW * number as f64;
        let width = (x(fault.to) - x(fault.from)).max(2.0);
        writeln!(
            out,
            r#"<rect x="{:.1}" y="{y:.1}" width="{width:.1}" height="12" fill="{}"/><text x="{:.1}" y="{:.1}">{} {}</text>"#,
            x(fault.from),
            class_colour(fault.class),
            x(fault.to) + 4.0,
            y + 10.0,
            fault.name,
            fault.target
        )?;
    }
    for (name, at) in [
        ("faults", history.meta.phases.faults_from),
        ("recovered", history.meta.phases.recovered_at),
        ("stop", history.meta.phases.stopped_at),
    ] {
        writeln!(
            out,
            r##"<line x1="{0:.1}" x2="{0:.1}" y1="0" y2="{height}" stroke="#888"/><text x="{0:.1}" y="{1:.1}">{name}</text>"##,
            x(at),
            height - 6.0
        )?;
    }
    writeln!(out, "</svg>")
}

/// The latest delivery of each second, by part of the load; `i64::MAX`: recorded, never received.
fn worst_by_second(history: &History) -> BTreeMap<String, BTreeMap<Millis, Millis>> {
    let index = crate::check::index_of(history);
    let mut worst: BTreeMap<String, BTreeMap<Millis, Millis>> = BTreeMap::new();
    for run in history.runs.iter().filter(|run| run.is_first_of_instant()) {
        let received = index.first_receipt(run.id);
        let late = received.map_or(Millis::MAX, |at| at - run.scheduled_at);
        let seconds = worst.entry(index.group(run.job_id).to_owned()).or_default();
        let entry = seconds.entry(run.scheduled_at).or_insert(late);
        *entry = (*entry).max(late);
    }
    worst
}

fn colour(late: Millis) -> &'static str {
    match late {
        Millis::MAX => "#999999",
        1_001.. => "#d62728",
        301.. => "#e8b800",
        _ => "#2ca02c",
    }
}

fn class_colour(class: Class) -> &'static str {
    match class {
        Class::GracefulStop => "#17becf",
        Class::Holder => "#d62728",
        Class::Redis => "#ff7f0e",
        Class::Database => "#9467bd",
        Class::Executor => "#1f77b4",
        Class::Harmless => "#bbbbbb",
    }
}
