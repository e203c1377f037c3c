//! The handler of loops: it tells the observer of each call, before it does anything else.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use carillon_executor::{JobContext, JobError};

use super::Arguments;
use crate::record::Fire;

/// While this file is there, no renewal leaves the executor.
pub const RENEWAL_CUT: &str = "loop_renewal_cut";
/// Shorter than the part of a lease that is not trusted.
const TAKES: Duration = Duration::from_millis(5);

pub struct Ticks {
    observer: UnixDatagram,
    executor: String,
    boot: String,
}

impl Ticks {
    pub fn connect(arguments: &Arguments, boot: &str) -> io::Result<Self> {
        let observer = UnixDatagram::unbound()?;
        observer.connect(&arguments.observer)?;
        Ok(Self { observer, executor: arguments.name.clone(), boot: boot.to_owned() })
    }

    pub async fn tick(&self, ctx: JobContext) -> Result<(), JobError> {
        let (epoch, instant) = ctx.fire_key().and_then(of_key).ok_or_else(|| JobError::new("not in a loop"))?;
        self.tell(&Fire {
            executor: self.executor.clone(),
            boot: self.boot.clone(),
            job: i64::from(ctx.job_id()),
            epoch,
            instant,
            ..Fire::default()
        });
        tokio::time::sleep(TAKES).await;
        Ok(())
    }

    /// What was sent survives the process's `kill -9`, and is read in the order in which all executors have sent it.
    fn tell(&self, fire: &Fire) {
        let text = serde_json::to_vec(fire).unwrap_or_default();
        if let Err(error) = self.observer.send(&text) {
            // A call that is not seen would make the checker see a gap that is none.
            eprintln!("the observer cannot be told of a call: {error}");
            std::process::exit(3);
        }
    }
}

/// The epoch and the instant in `<job>:loop:<epoch>:<instant>`.
fn of_key(key: &str) -> Option<(i64, i64)> {
    let mut words = key.split(':').skip(1);
    let (kind, epoch, instant) = (words.next()?, words.next()?, words.next()?);
    (kind == "loop").then_some((epoch.parse().ok()?, instant.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_loops_have_their_epoch_and_instant() {
        assert_eq!(of_key("17:loop:4:1790000000100"), Some((4, 1_790_000_000_100)));
        assert_eq!(of_key("17:schedule:1790000000000:0"), None);
        assert_eq!(of_key("17:loop:4"), None);
    }
}
