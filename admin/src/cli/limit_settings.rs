//! The settings that bound what one caller or one app may take.

use clap::Args;

#[derive(Args, Clone)]
#[command(next_help_heading = "Limits")]
pub struct LimitSettings {
    /// Requests a second of one account or API token on this node, 1 to 100000; ten seconds' worth at once
    ///
    /// What is above it is answered 429 with Retry-After.
    #[arg(long, env = "CARILLON_REQUEST_RATE", value_name = "NUMBER", default_value = "1000")]
    pub request_rate: String,

    /// Registrations a second with one executor token on this node, 1 to 100000; ten seconds' worth at once
    ///
    /// An executor registers every 30 s. Results of runs are not limited: some executors drop a result that is refused.
    #[arg(long, env = "CARILLON_REGISTRATION_RATE", value_name = "NUMBER", default_value = "500")]
    pub registration_rate: String,

    /// Live executors of one app, 1 to 100000; those under names that no app has count together as one app
    #[arg(long, env = "CARILLON_APP_EXECUTORS", value_name = "NUMBER", default_value = "1000")]
    pub app_executors: String,

    /// Jobs of one app, 1 to 100000000
    #[arg(long, env = "CARILLON_APP_JOBS", value_name = "NUMBER", default_value = "100000")]
    pub app_jobs: String,

    /// Shortest time between two fires of a schedule that may be saved, 1s to 24h
    #[arg(long, env = "CARILLON_MIN_PERIOD", value_name = "TIME", default_value = "1s")]
    pub min_period: String,
}
