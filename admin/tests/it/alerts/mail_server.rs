//! A real mail server: npm's `smtp-server`, in a process of its own (`mail_program/server.mjs` says what each recipient does).

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use carillon_accounts::secret::random_secret;
use carillon_testkit::Authority;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::services::setting;

pub struct MailServer {
    pub port: u16,
    pub authority: Authority,
    pub user: &'static str,
    pub password: String,
    mails: Arc<Mutex<Vec<Value>>>,
    /// It ends with this.
    _child: Child,
    _folder: TempDir,
}

impl MailServer {
    /// `mode`: `starttls`, `tls` or `none`.
    pub async fn start(mode: &str) -> Self {
        let (folder, authority, password, user) =
            (tempfile::tempdir().unwrap(), Authority::new(), random_secret(), "carillon");
        let (cert, key) = authority.issue().write(folder.path(), "mail");
        let mut child = Command::new("node")
            .arg(setting("CARILLON_TEST_MAIL_SERVER"))
            .arg(mode)
            .args([cert, key])
            .args([user, &password])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node is needed: see .ci/packages");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().expect("the mail server has ended").parse().unwrap();
        let mails = Arc::new(Mutex::new(vec![]));
        let taken = mails.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                taken.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Self { port, authority, user, password, mails, _child: child, _folder: folder }
    }

    /// `to`, `text`, `secure` and `user` of each mail that it has taken.
    pub fn mails(&self) -> Vec<Value> {
        self.mails.lock().unwrap().clone()
    }
}
