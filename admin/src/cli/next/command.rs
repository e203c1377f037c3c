//! `carillon next`: when a cron expression fires, one at a time for people, or line by line for programs.
//!
//! The answers are those of the planner. Errors are reported line by line, so one bad line does not end the command.

use std::io::{self, Write as _};

use carillon_scheduler::{Clock as _, ClockChanges, Millis, SystemClock};
use clap::Args;

use super::lines;
use super::query::NextQuery;
use crate::cli::arguments::{InvalidInput, time};

#[derive(Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["expression", "cron", "unix_cron", "stdin"])))]
pub struct NextArgs {
    /// An expression in quotes: of five fields as in crontab(5), of six or seven with seconds first, as in the job form
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: Option<String>,
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

pub fn run(args: &NextArgs) -> anyhow::Result<()> {
    let done = if args.stdin {
        lines::answer(&args.query()?, io::stdin().lock(), io::stdout().lock())
    } else {
        let instants = args.query()?.instants(args.from()?).map_err(InvalidInput)?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        instants.iter().try_for_each(|instant| writeln!(out, "{instant}")).and_then(|()| out.flush())
    };
    match done {
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

impl NextArgs {
    /// What is asked; of `--stdin` each line brings its own expression and zone.
    fn query(&self) -> anyhow::Result<NextQuery<'_>> {
        let expression =
            self.expression.as_deref().or(self.cron.as_deref()).or(self.unix_cron.as_deref()).unwrap_or("");
        Ok(NextQuery {
            expression,
            is_unix: self.unix_cron.is_some()
                || self.expression.is_some() && expression.split_whitespace().count() == 5,
            zone: &self.timezone,
            count: self.count as usize,
            clock_changes: self.clock_changes.parse::<ClockChanges>()?,
        })
    }

    fn from(&self) -> Result<Millis, InvalidInput> {
        match &self.from {
            Some(text) => time(text).map_err(InvalidInput),
            None => Ok(SystemClock::new().now()),
        }
    }
}
