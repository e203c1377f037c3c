//! The one rule by which a transaction is repeated.

use std::time::Duration;

use crate::error::{Error, Result};

/// Most repetitions; after that the error goes to the caller.
const REPETITIONS: u32 = 4;

/// Repeats what others' locks have undone: deadlock, serialization failure, busy file.
pub async fn on_conflict<T, F: Future<Output = Result<T>>>(attempt: impl FnMut() -> F) -> Result<T> {
    repeat(Error::is_conflict, attempt).await
}

/// The same where another session may have made the same row at the same time: the next attempt finds it there.
pub async fn on_race<T, F: Future<Output = Result<T>>>(attempt: impl FnMut() -> F) -> Result<T> {
    let is_race =
        |error: &Error| error.is_conflict() || error.is_unique_violation() || matches!(error, Error::Taken(_));
    repeat(is_race, attempt).await
}

async fn repeat<T, F: Future<Output = Result<T>>>(
    is_worth_it: fn(&Error) -> bool,
    mut attempt: impl FnMut() -> F,
) -> Result<T> {
    for repetition in 0..REPETITIONS {
        match attempt().await {
            Err(error) if is_worth_it(&error) => {
                // The first at once, the others apart from those that they collide with.
                let pause = rand::random_range(0..=5 * u64::from(repetition));
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
            other => return other,
        }
    }
    attempt().await
}
