//! The subcommands, and how an error ends the program.

use std::io;
use std::panic;
use std::process::ExitCode;

use crate::{config, server};
use carillon_scheduler::zone::load_zone_data;
use carillon_scheduler::zone_data;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::arguments::InvalidInput;
use super::database::migrate;
use super::diagnosis::{audit, explain, health};
use super::settings::{DatabaseSettings, ServeSettings, ZoneSettings};
use super::{demo, environment, files, manual, moving, next, serve, shards, user, worker};

/// Carillon, a distributed job scheduler.
///
/// Every setting is a flag and an environment variable; the flag goes first. What is logged is chosen with RUST_LOG
/// (default: info). Without a subcommand: serve.
#[derive(Parser)]
#[command(name = "carillon", disable_version_flag = true, args_conflicts_with_subcommands = true)]
pub(super) struct Cli {
    /// Print the versions of the program and of its time zone data
    #[arg(short = 'V', long)]
    version: bool,
    #[command(flatten)]
    zones: ZoneSettings,
    #[command(flatten)]
    serve: Box<ServeSettings>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run a node: console, API and scheduler (the default)
    Serve(Box<ServeSettings>),
    /// Try it out: a node, two executors and jobs that fire at once; takes the settings of serve
    ///
    /// What is not given is made up: data in a temporary folder that is removed at the end, and random secrets. On a
    /// taken port 8080 another one is used.
    Demo(Box<ServeSettings>),
    /// Bring the database's schema up to date, and end
    Migrate(DatabaseSettings),
    /// Make accounts of the console, or give them new passwords
    User(user::UserArgs),
    /// Show who works which shard, or change their number while nodes run
    Shards(Box<shards::ShardsArgs>),
    /// Compare what is on record with what the schedules say; exit code 1 if anything is unexplained
    ///
    /// Also while nodes run. Every difference is listed with its reason; instants that were edited away, paused, not planned
    /// yet or pruned are explained.
    Audit(Box<audit::AuditArgs>),
    /// After an older state of the database was restored: let the nodes go on that have noticed it and stand still
    Resync(DatabaseSettings),
    /// Explain one instant of a job: who planned it, where it went, how it ended, or why there is no run
    Explain(Box<explain::ExplainArgs>),
    /// Say when a cron expression fires, by the rules of the planner
    Next(Box<next::NextArgs>),
    /// Ask the node of these settings whether it is ready; exit code 1 if it is not
    ///
    /// For the health check of a container: it takes the settings of serve, also from the environment, and waits 2 s.
    Health(Box<health::HealthArgs>),
    /// Write the jobs of a server as files, or for another scheduler
    Export(Box<Export>),
    /// Make a server as files say: create, change and, with --prune, delete jobs
    ///
    /// Everything is checked before the first change, and all faults are reported at once. A second apply changes nothing.
    Apply(Box<files::ApplyArgs>),
    /// Compare a server with the files that were applied; exit code 2 if they differ
    Drift(Box<files::DriftArgs>),
    /// Print the JSON schema of job files
    Schema,
    /// Bring jobs here from another scheduler
    #[command(subcommand)]
    Import(moving::ImportCommand),
    /// Let an app that was imported from xxl-job run here, once its jobs are stopped there
    Cutover(Box<moving::CutoverArgs>),
    /// Compare what xxl-job plans, second by second, with what the imported jobs would do; exit code 1 if anything is unexplained
    Shadow(Box<moving::ShadowArgs>),
    /// Run scripts: an executor of script jobs, each in a process of its own, as another user
    ///
    /// It takes no handler jobs. People who may write scripts in the admin run code on this machine, with the rights of the users that
    /// --run-as names.
    Worker(Box<worker::WorkerArgs>),
    /// Print what completes the command line in a shell
    Completions(manual::CompletionsArgs),
    /// Write the manual pages to a folder
    #[command(hide = true)]
    Manual(manual::ManualArgs),
}

/// Files, unless another scheduler is named.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Export {
    #[command(flatten)]
    files: files::ExportArgs,
    #[command(subcommand)]
    other: Option<moving::ExportCommand>,
}

impl Cli {
    /// What is wrong with the settings of a node, if one is to run.
    fn problems(&self) -> Vec<config::Problem> {
        match &self.command {
            None => self.serve.problems(),
            Some(Command::Serve(settings)) => settings.problems(),
            Some(_) => vec![],
        }
    }

    /// Whether the program goes on until it is stopped.
    fn goes_on(&self) -> bool {
        use Command::{Demo, Serve, Worker};
        matches!(self.command, None | Some(Serve(_) | Demo(_) | Worker(_)))
    }

    /// The exit code 2 of the command says that there are changes.
    fn reports_changes(&self) -> bool {
        matches!(self.command, Some(Command::Apply(_) | Command::Drift(_)))
    }

    /// Chooses the time zone data of the process.
    fn load_zone_data(&self) -> Result<(), config::Error> {
        let loaded = load_zone_data(self.zones.zoneinfo.as_deref());
        loaded.map(|_| ()).map_err(|error| {
            let mut problems = vec![config::Problem::new("zoneinfo", error.to_string())];
            problems.extend(self.problems());
            config::Error { problems }
        })
    }
}

/// The command line. The settings of a command that has commands of its own may stand before and behind them.
fn command() -> clap::Command {
    let everywhere = |command: clap::Command| command.mut_args(|argument| argument.global(true));
    Cli::command().mut_subcommand("user", everywhere).mut_subcommand("shards", everywhere)
}

/// `carillon 0.1.0`, and the edition and source of the time zone data.
fn print_version() {
    let data = zone_data();
    println!("carillon {}\ntzdata {} ({})", env!("CARGO_PKG_VERSION"), data.version(), data.source());
}

/// Ends the program with what is wrong with its arguments. Exit code 2 means changes for some commands.
fn refuse(error: &clap::Error) -> ! {
    let is_comparison = std::env::args().nth(1).is_some_and(|command| command == "apply" || command == "drift");
    let code = if is_comparison { error.exit_code().min(1) } else { error.exit_code() };
    let _ = error.print();
    std::process::exit(code)
}

/// `println!` panics where the reader of the output has gone, as in `carillon shards | head -1`: the program ends then, without a text.
fn end_without_a_reader() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |why| {
        let text = why.payload_as_str().unwrap_or_default();
        if text.starts_with("failed printing to stdout") && text.contains("Broken pipe") {
            std::process::exit(0);
        }
        usual(why);
    }));
}

/// Reads the command line, runs the subcommand, says what went wrong.
pub fn main() -> ExitCode {
    if let Some(code) = worker::shim() {
        return code;
    }
    let command = command();
    let matches = command.clone().try_get_matches().unwrap_or_else(|error| refuse(&error));
    let wanted = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if !wanted.goes_on() {
        end_without_a_reader();
    }
    let checked = if wanted.version { Ok(()) } else { environment::check(&command) };
    let checked = checked.map_err(|unknown| unknown.with(wanted.problems()).into());
    let usage_code = if wanted.reports_changes() { 1 } else { 2 };
    match checked.and_then(|()| run(wanted)) {
        Ok(code) => code,
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("carillon: {}", error_chain(&error));
            ExitCode::from(if is_usage_error(&error) { usage_code } else { 1 })
        }
    }
}

fn run(wanted: Cli) -> anyhow::Result<ExitCode> {
    wanted.load_zone_data()?;
    if wanted.version {
        print_version();
        return Ok(ExitCode::SUCCESS);
    }
    // Before the first TLS connection: with two providers in one program rustls would panic instead of choosing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let done = match wanted.command.unwrap_or(Command::Serve(wanted.serve)) {
            Command::Apply(args) => return files::apply(*args).await,
            Command::Drift(args) => return files::drift(*args).await,
            Command::Export(args) => match args.other {
                Some(command) => moving::export(command).await,
                None => files::export(args.files).await,
            },
            Command::Schema => files::schema(),
            Command::Serve(settings) => serve::run(*settings).await,
            Command::Demo(settings) => demo::run(*settings).await,
            Command::User(command) => user::run(command).await,
            Command::Migrate(settings) => migrate::run(settings).await,
            Command::Audit(args) => audit::run(*args).await,
            Command::Explain(args) => explain::run(*args).await,
            Command::Shards(args) => shards::run(*args).await,
            Command::Resync(settings) => shards::resync(settings).await,
            Command::Next(args) => next::run(&args),
            Command::Health(args) => health::run(*args).await,
            Command::Import(command) => moving::import(command).await,
            Command::Cutover(args) => moving::cut_over(*args).await,
            Command::Shadow(args) => moving::shadow(*args).await,
            Command::Worker(args) => worker::run(*args).await,
            Command::Completions(args) => {
                manual::completions(&args, command());
                Ok(())
            }
            Command::Manual(args) => manual::pages(&args, command()),
        };
        done.map(|()| ExitCode::SUCCESS)
    })
}

/// The error and its causes, without those whose text is in the text before them.
fn error_chain(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match &text[..] {
        "" => cause,
        _ if text.contains(&cause) => text,
        _ => format!("{text}: {cause}"),
    })
}

/// Wrong settings, and a database that does not fit this program or its settings.
fn is_usage_error(error: &anyhow::Error) -> bool {
    let store = match error.downcast_ref() {
        Some(server::Error::Settings(_)) => return true,
        Some(server::Error::Store(store)) => Some(store),
        _ => error.downcast_ref::<carillon_store::Error>(),
    };
    error.is::<config::Error>()
        || error.is::<InvalidInput>()
        || error.is::<environment::UnknownVariable>()
        || matches!(store, Some(carillon_store::Error::Settings(_) | carillon_store::Error::Schema(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serve_is_what_is_done_without_a_subcommand() {
        let plain = Cli::parse_from(["carillon", "--in-flight", "7"]);
        assert!(plain.command.is_none());
        let named = Cli::parse_from(["carillon", "serve", "--in-flight", "7"]);
        let Some(Command::Serve(settings)) = named.command else { panic!("not serve") };
        assert_eq!(settings.in_flight, plain.serve.in_flight);
    }

    const DERIVED: [&str; 7] =
        ["access-token", "database-url", "executor-ca", "executor-tls-cert", "executor-tls-key", "oidc-ca", "redis-ca"];

    // covers: 003-25, 6.18
    #[test]
    fn the_settings_document_lists_every_setting() {
        let document = include_str!("../../docs/settings.md");
        let serve = Cli::command();
        for argument in serve.get_arguments().filter(|argument| argument.get_env().is_some()) {
            let flag = argument.get_long().unwrap();
            let variable = argument.get_env().and_then(|name| name.to_str()).unwrap();
            let row = format!("| `--{flag}` | `{variable}` | ");
            let row = document.lines().find_map(|line| line.strip_prefix(&row)).expect(flag);
            let default_there = row.split(" |").next().unwrap().trim_matches('`');
            match argument.get_default_values() {
                _ if !argument.get_action().takes_values() => assert_eq!(default_there, "off", "--{flag}"),
                [default] => assert_eq!(default_there, default.to_str().unwrap(), "--{flag}"),
                _ if flag == "shards" => {
                    assert_eq!(
                        default_there,
                        format!("{}, or the number in the database", carillon_store::lease::leases::DEFAULT_SHARDS)
                    );
                }
                _ if flag == "data-dir" => assert_eq!(default_there, format!("./{}", crate::cli::values::DATA_DIR)),
                // What another setting, the machine or the data folder says.
                _ => assert!(default_there.starts_with("none") || DERIVED.contains(&flag), "--{flag}: {default_there}"),
            }
            assert_eq!(variable, format!("CARILLON_{}", flag.replace('-', "_").to_uppercase()));
        }
    }

    #[test]
    fn an_unknown_flag_is_named_with_the_one_that_is_meant() {
        let Err(error) = Cli::try_parse_from(["carillon", "--listn", "x"]) else { panic!("taken") };
        let said = error.to_string();
        assert_eq!(error.exit_code(), 2);
        assert!(said.contains("--listn") && said.contains("--listen"), "{said}");
    }
}
