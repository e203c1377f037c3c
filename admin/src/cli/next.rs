//! `carillon next`: when a cron expression fires, one at a time for people, or line by line for programs.
//!
//! The answers are those of the planner. What is refused is told line by line, so one bad line stops nobody.

mod ask;
mod lines;

use std::io::{self, Write as _};

use carillon_scheduler::{Clock as _, ClockChanges, Millis, SystemClock};
use chrono::DateTime;
use clap::Args;

use ask::Ask;

#[derive(Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["cron", "unix_cron", "stdin"])))]
pub struct Wish {
    /// An expression of six or seven fields: second, minute, hour, day, month, weekday and perhaps a year
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    cron: Option<String>,
    /// An expression of five fields, as in crontab(5)
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    unix_cron: Option<String>,
    /// Answer each line `expression<TAB>zone<TAB>from` of standard input with one line
    ///
    /// It has the instants separated by TABs, `-` for each that does not exist, or `ERR<TAB>message` if the expression,
    /// the zone or the time is refused. Expressions are taken as they are, blanks too.
    #[arg(long, conflicts_with_all = ["timezone", "from"])]
    stdin: bool,
    /// An IANA name
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    timezone: String,
    /// Instants after this time, RFC 3339 with any offset; without it: now
    #[arg(long, value_name = "ISO", allow_hyphen_values = true)]
    from: Option<String>,
    /// How many instants
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// What happens when the clocks change: each time of day once, or as xxl-job does it
    #[arg(long, default_value = "carillon", value_parser = ["carillon", "xxl"])]
    clock_changes: String,
}

/// An expression, a zone or a time that cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

pub fn run(wish: &Wish) -> anyhow::Result<()> {
    let done = if wish.stdin {
        lines::answer(&wish.ask()?, io::stdin().lock(), io::stdout().lock())
    } else {
        let instants = wish.ask()?.instants(wish.from()?).map_err(Refused)?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut told = instants.iter().map(|instant| writeln!(out, "{instant}"));
        told.try_for_each(|told| told).and_then(|()| out.flush())
    };
    match done {
        // Who closes the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

impl Wish {
    /// What is asked; of `--stdin` each line brings its own expression and zone.
    fn ask(&self) -> anyhow::Result<Ask<'_>> {
        Ok(Ask {
            expression: self.cron.as_deref().or(self.unix_cron.as_deref()).unwrap_or(""),
            is_unix: self.unix_cron.is_some(),
            zone: &self.timezone,
            count: self.count as usize,
            clock_changes: self.clock_changes.parse::<ClockChanges>()?,
        })
    }

    fn from(&self) -> Result<Millis, Refused> {
        match &self.from {
            Some(text) => time(text).map_err(Refused),
            None => Ok(SystemClock::new().now()),
        }
    }
}

fn time(text: &str) -> Result<Millis, String> {
    let wrong = || format!("`{text:.64}` is no time; write RFC 3339, such as 2025-07-04T15:00:00+02:00");
    match DateTime::parse_from_rfc3339(text.trim()) {
        Ok(time) => Ok(time.timestamp_millis()),
        Err(_) => Err(wrong()),
    }
}
