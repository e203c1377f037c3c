//! `carillon import crontab` and `carillon import kubernetes`: a file for `carillon apply` on standard output, the report on standard
//! error.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use carillon_import::crontab::{self, CrontabFile, CrontabOptions};
use carillon_import::kubernetes::{self, KubernetesOptions, Manifest};
use carillon_import::{Definitions, Remark};
use carillon_scheduler::{Clock as _, SystemClock, Zone, check_key, validate_app_name};
use clap::Args;

use crate::cli::arguments::InvalidInput;
use crate::cli::arguments::counted;

/// Where the jobs go.
#[derive(Args)]
struct Target {
    /// The app of the jobs
    #[arg(long, value_name = "APP")]
    app: String,
    /// The name of the set of files
    #[arg(long, value_name = "NAME")]
    set: Option<String>,
    /// Files to read; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Args)]
pub struct CrontabArgs {
    #[command(flatten)]
    target: Target,
    /// The time zone of the machine, by whose clock cron goes
    #[arg(long, value_name = "ZONE")]
    zone: String,
    /// A handler of your executors that runs a shell script, which it gets as parameters, in place of script jobs
    #[arg(long, value_name = "NAME")]
    handler: Option<String>,
    /// A user stands before the command, as in /etc/crontab and in files of /etc/cron.d, where it need not be said
    #[arg(long)]
    system: bool,
}

#[derive(Args)]
pub struct KubernetesArgs {
    #[command(flatten)]
    target: Target,
    /// The time zone of the controller, for CronJobs without one
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    zone: String,
    /// A handler of your executors, which gets image, command and arguments as parameters
    #[arg(long, value_name = "NAME")]
    handler: String,
}

/// The flags that are wrong, all at once. The command line is read before the time zone data.
fn check(target: &Target, zone: &str) -> Result<(), InvalidInput> {
    let checks = [
        ("app", validate_app_name(&target.app)),
        ("set", check_key(target.set.as_deref().unwrap_or_default())),
        ("zone", zone.parse::<Zone>().map(drop).map_err(|error| error.to_string())),
    ];
    let wrong = |(flag, checked): (&str, Result<(), String>)| Some(format!("--{flag}: {}", checked.err()?));
    let faults: Vec<String> = checks.into_iter().filter_map(wrong).collect();
    if faults.is_empty() { Ok(()) } else { Err(InvalidInput(faults.join("\n"))) }
}

pub fn crontab(args: &CrontabArgs) -> anyhow::Result<()> {
    check(&args.target, &args.zone)?;
    let read = |(name, path, text): (String, &Path, String)| CrontabFile {
        name,
        text,
        has_users: args.system || path == "/etc/crontab" || path.starts_with("/etc/cron.d"),
    };
    let files: Vec<CrontabFile> = read_all(&args.target.files)?.into_iter().map(read).collect();
    let now = SystemClock::new().now();
    let options = CrontabOptions { app: &args.target.app, zone: &args.zone, handler: args.handler.as_deref(), now };
    print(&args.target, "crontab", &crontab::definitions(&files, &options))
}

pub fn kubernetes(args: &KubernetesArgs) -> anyhow::Result<()> {
    check(&args.target, &args.zone)?;
    let read = |(name, _, text): (String, &Path, String)| Manifest { name, text };
    let files: Vec<Manifest> = read_all(&args.target.files)?.into_iter().map(read).collect();
    let now = SystemClock::new().now();
    let options = KubernetesOptions { app: &args.target.app, zone: &args.zone, handler: &args.handler, now };
    let done = kubernetes::definitions(&files, &options).map_err(|faults| InvalidInput(faults.join("\n")))?;
    print(&args.target, "kubernetes", &done)
}

/// Each file with its name and text; all that cannot be read are named at once.
fn read_all(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, &Path, String)>> {
    let (mut texts, mut faults) = (vec![], vec![]);
    for path in paths {
        let read = match path.as_os_str() == "-" {
            true => {
                let mut text = String::new();
                io::stdin().read_to_string(&mut text).map(|_| text)
            }
            false => std::fs::read_to_string(path),
        };
        match read {
            Ok(text) => texts.push((path.display().to_string(), path.as_path(), text)),
            Err(error) => faults.push(format!("{}: {error}", path.display())),
        }
    }
    match faults.is_empty() {
        true => Ok(texts),
        false => Err(InvalidInput(faults.join("\n")).into()),
    }
}

fn print(target: &Target, set: &str, done: &Definitions) -> anyhow::Result<()> {
    let set = target.set.as_deref().unwrap_or(set);
    let mut report = io::stderr().lock();
    writeln!(report, "{}, {} left out", counted(done.jobs.len(), "job"), done.left_out.len())?;
    let mut section = |title: &str, remarks: Vec<&Remark>| {
        if remarks.is_empty() {
            return Ok(());
        }
        writeln!(report, "\n{title}")?;
        remarks.iter().try_for_each(|remark| match remark.place.as_str() {
            "" => writeln!(report, "  {}", remark.text),
            place => writeln!(report, "  {place}: {}", remark.text),
        })
    };
    section("No job here:", done.left_out.iter().collect())?;
    section(
        "Different here, for single jobs:",
        done.remarks.iter().filter(|remark| !remark.place.is_empty()).collect(),
    )?;
    section(
        "Different here, for all of them:",
        done.remarks.iter().filter(|remark| remark.place.is_empty()).collect(),
    )?;
    if !done.jobs.is_empty() {
        io::stdout().lock().write_all(done.file(set, &target.app).as_bytes())?;
    }
    Ok(())
}
