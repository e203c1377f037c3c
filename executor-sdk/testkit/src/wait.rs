use std::time::Duration;

/// Ends a wait that would never end; long enough for a machine under load.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Polls a condition until it holds.
///
/// # Panics
/// The condition did not hold within [`LIMIT`].
pub async fn wait_for(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, waiting).await.is_ok(), "timed out waiting for {what}");
}
