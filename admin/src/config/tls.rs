//! Certificates: what the listeners show, what they ask of their clients, and what is shown to and asked of executors.

use std::path::PathBuf;

use carillon_listener::{TlsError, TlsFile, TlsFiles};

use crate::config::problem::Problem;

/// PEM files. None of them is read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Of all listeners that have no pair of their own.
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    /// Of the executors' listener.
    pub executor_cert: Option<PathBuf>,
    pub executor_key: Option<PathBuf>,
    /// The authority whose certificates executors must show.
    pub executor_client_ca: Option<PathBuf>,
    /// The authority of the certificates of https executors; none: those that this machine trusts.
    pub executor_ca: Option<PathBuf>,
    /// Shown to executors that ask for a certificate.
    pub executor_client_cert: Option<PathBuf>,
    pub executor_client_key: Option<PathBuf>,
}

impl TlsSettings {
    /// Of `--listen`. None: plain HTTP.
    pub fn console(&self) -> Option<TlsFiles> {
        Some(TlsFiles { cert: self.cert.clone()?, key: self.key.clone()?, client_ca: None })
    }

    /// Of `--executor-listen`: its own pair, or the one of `--listen`. None: plain HTTP.
    pub fn executors(&self) -> Option<TlsFiles> {
        let own = self.executor_cert.clone().zip(self.executor_key.clone());
        let (cert, key) = own.or_else(|| self.cert.clone().zip(self.key.clone()))?;
        Some(TlsFiles { cert, key, client_ca: self.executor_client_ca.clone() })
    }

    /// A file that cannot be used, with its setting.
    pub fn problem(&self, error: &TlsError) -> Problem {
        let is_own =
            self.executor_cert.as_ref() == Some(&error.path) || self.executor_key.as_ref() == Some(&error.path);
        let (setting, right) = match (error.file, is_own) {
            (TlsFile::Cert, false) => {
                ("tls-cert", "name a PEM file with the certificate and those between it and its authority")
            }
            (TlsFile::Cert, true) => {
                ("executor-tls-cert", "name a PEM file with the certificate and those between it and its authority")
            }
            (TlsFile::Key, false) => ("tls-key", "name a PEM file with the private key of the certificate"),
            (TlsFile::Key, true) => ("executor-tls-key", "name a PEM file with the private key of the certificate"),
            (TlsFile::ClientCa, _) => {
                ("executor-tls-client-ca", "name a PEM file with the certificate of the authority")
            }
        };
        Problem::new(setting, format!("{error}; {right}"))
    }

    /// What the settings lack of each other. `is_apart`: there is a listener for executors alone.
    pub(super) fn problems(&self, is_apart: bool) -> Vec<Problem> {
        let lacks = |has: &Option<PathBuf>, other: &Option<PathBuf>, setting, wrong: &str| {
            (has.is_some() && other.is_none()).then(|| Problem::new(setting, wrong))
        };
        let alone = |file: &Option<PathBuf>, setting| {
            let wrong = "there is no --executor-listen that it could be for; give one, or drop it";
            (file.is_some() && !is_apart).then(|| Problem::new(setting, wrong))
        };
        let no_tls = self.executor_client_ca.is_some() && self.executors().is_none();
        let found = [
            lacks(&self.cert, &self.key, "tls-cert", "it needs --tls-key, the private key of the certificate"),
            lacks(&self.key, &self.cert, "tls-key", "it needs --tls-cert, the certificate of the key"),
            lacks(
                &self.executor_cert,
                &self.executor_key,
                "executor-tls-cert",
                "it needs --executor-tls-key, its private key",
            ),
            lacks(
                &self.executor_key,
                &self.executor_cert,
                "executor-tls-key",
                "it needs --executor-tls-cert, its certificate",
            ),
            lacks(
                &self.executor_client_cert,
                &self.executor_client_key,
                "executor-client-cert",
                "it needs --executor-client-key, its private key",
            ),
            lacks(
                &self.executor_client_key,
                &self.executor_client_cert,
                "executor-client-key",
                "it needs --executor-client-cert, its certificate",
            ),
            alone(&self.executor_cert, "executor-tls-cert"),
            alone(&self.executor_client_ca, "executor-tls-client-ca"),
            no_tls.then(|| {
                Problem::new("executor-tls-client-ca", "it needs TLS; give --tls-cert or --executor-tls-cert")
            }),
        ];
        found.into_iter().flatten().collect()
    }
}
