//! A file in the node's data folder, a JSON object a line: for a first look, and for programs that read files.

use std::path::Path;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::channel::attempt::Attempt;
use crate::message::{Locale, Message};

pub const NAME: &str = "alerts.jsonl";
/// The file before the present one; the one before that is deleted.
const BEFORE: &str = "alerts.jsonl.1";
/// Bytes above which a further file is started.
const MOST: u64 = 64 << 20;

pub async fn send(folder: &Path, locale: &Locale, event_id: &str, message: &Message) -> Attempt {
    let (title, text) = (message.title(locale), message.lines(locale).join("\n"));
    let line = json!({"event_id": event_id, "title": title, "text": text, "message": message});
    let path = folder.join(NAME);
    let written = async {
        if tokio::fs::metadata(&path).await.is_ok_and(|file| file.len() > MOST) {
            tokio::fs::rename(&path, folder.join(BEFORE)).await?;
        }
        // For its owner alone: it has names of jobs and what executors wrote.
        let mut file = tokio::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path).await?;
        file.write_all(format!("{line}\n").as_bytes()).await?;
        file.flush().await
    };
    match written.await {
        Ok(()) => Attempt::Delivered { answer: format!("written to {NAME} in the data folder") },
        Err(error) => Attempt::again(format!("{NAME} in the data folder: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    // covers: W16
    #[tokio::test]
    async fn the_file_is_its_owners_alone_and_starts_again_when_it_is_large() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let message = Message::test("channel", 0);
        assert!(matches!(send(folder.path(), &Locale::default(), "1", &message).await, Attempt::Delivered { .. }));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::File::options().write(true).open(&path).unwrap().set_len(MOST + 1).unwrap();
        send(folder.path(), &Locale::default(), "2", &message).await;
        assert!(path.metadata().unwrap().len() < 10_000);
        assert_eq!(folder.path().join(BEFORE).metadata().unwrap().len(), MOST + 1);
    }
}
