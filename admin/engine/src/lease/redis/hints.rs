//! A channel of Redis, on which nodes name shards to each other: numbers with commas between them.

use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use redis::Msg;

use crate::lease::redis::lock::Redis;

/// For the connection and the subscription.
const LIMIT: Duration = Duration::from_secs(3);

impl Redis {
    fn channel(&self) -> String {
        format!("carillon:{}:hints", self.cluster)
    }

    /// To all nodes that listen now.
    pub async fn hint(&self, shards: impl IntoIterator<Item = i32>) {
        let text = written(shards);
        let sent = self.ask(async |mut live| {
            redis::cmd("PUBLISH").arg(self.channel()).arg(&text).query_async::<i64>(&mut live).await
        });
        sent.await;
    }

    /// What the nodes say from now on; None: Redis cannot be asked, or refuses. The stream ends with its connection.
    pub async fn hints(&self) -> Option<impl Stream<Item = Vec<i32>> + use<>> {
        let subscribing = async {
            let mut subscription = self.subscriber.connect().await?;
            subscription.subscribe(self.channel()).await?;
            Ok::<_, redis::RedisError>(subscription)
        };
        match tokio::time::timeout(LIMIT, subscribing).await {
            Ok(Ok(subscription)) => {
                Some(subscription.into_on_message().map(|message: Msg| read(message.get_payload_bytes())))
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "hints of other nodes cannot be read: their work is found by the next look");
                None
            }
            Err(_) => None,
        }
    }
}

fn written(shards: impl IntoIterator<Item = i32>) -> String {
    let shards: Vec<String> = shards.into_iter().map(|shard| shard.to_string()).collect();
    shards.join(",")
}

/// What is no number is left out: it does no harm to miss a hint.
fn read(message: &[u8]) -> Vec<i32> {
    let text = std::str::from_utf8(message).unwrap_or_default();
    text.split(',').filter_map(|shard| shard.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_read_as_they_are_written_and_anything_else_is_left_out() {
        assert_eq!(read(written([0, 7, 4095]).as_bytes()), [0, 7, 4095]);
        for (message, shards) in [("", vec![]), ("x,3,", vec![3]), ("99999999999,-1", vec![-1]), ("4 5", vec![])] {
            assert_eq!(read(message.as_bytes()), shards, "{message}");
        }
        assert_eq!(read(b"\xff\xfe"), Vec::<i32>::new());
    }
}
