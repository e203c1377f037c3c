//! A file in the node's data folder, a JSON object a line: for a first look, and for programs that read files.

use std::path::Path;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::channel::attempt::Attempt;
use crate::message::Message;

pub const NAME: &str = "alerts.jsonl";

pub async fn send(folder: &Path, event_id: &str, message: &Message) -> Attempt {
    let line =
        json!({"event_id": event_id, "title": message.title(), "text": message.lines().join("\n"), "message": message});
    let path = folder.join(NAME);
    let written = async {
        let mut file = tokio::fs::OpenOptions::new().create(true).append(true).open(&path).await?;
        file.write_all(format!("{line}\n").as_bytes()).await?;
        file.flush().await
    };
    match written.await {
        Ok(()) => Attempt::Delivered { answer: format!("written to {NAME} in the data folder") },
        Err(error) => Attempt::again(format!("{NAME} in the data folder: {error}")),
    }
}
