//! Certificate and key of a listener, read again when their files change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::RwLock;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// Between two looks at the files.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The PEM files of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and after it those between it and the authority.
    pub cert: PathBuf,
    pub key: PathBuf,
    /// The authority of the clients: then each needs a certificate of it. None: no client needs one.
    pub client_ca: Option<PathBuf>,
}

/// One of [`TlsFiles`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFile {
    Cert,
    Key,
    ClientCa,
}

/// A file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct TlsError {
    pub file: TlsFile,
    pub path: PathBuf,
    pub what: String,
}

/// What the files held.
type Contents = (Vec<u8>, Vec<u8>, Option<Vec<u8>>);

/// What a listener needs for its handshakes.
pub struct Tls {
    files: TlsFiles,
    current: RwLock<(Arc<ServerConfig>, Contents)>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// The file that cannot be read or used, and why.
    pub fn load(files: TlsFiles) -> Result<Arc<Self>, TlsError> {
        let contents = read(&files)?;
        let config = config(&files, &contents)?;
        Ok(Arc::new(Self { files, current: RwLock::new((config, contents)) }))
    }

    /// Reads the files again whenever they have changed, until this is dropped. Needs a tokio runtime.
    pub fn watch(self: &Arc<Self>) {
        tokio::spawn(watch(Arc::downgrade(self)));
    }

    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        self.current.read().0.clone()
    }

    /// Takes the files as they are now, if they have changed. Returns whether they had.
    ///
    /// # Errors
    /// They cannot be used; what was in use stays in use.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let contents = read(&self.files)?;
        if self.current.read().1 == contents {
            return Ok(false);
        }
        let config = config(&self.files, &contents)?;
        *self.current.write() = (config, contents);
        Ok(true)
    }
}

async fn watch(tls: Weak<Tls>) {
    // Each problem is logged once, also when it stays for days. A pair is replaced file by file, so the first look at one half
    // of it is no problem yet.
    let (mut seen, mut logged) = (None, None);
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(tls) = tls.upgrade() else {
            return;
        };
        match tls.reload() {
            Ok(changed) => {
                if changed {
                    tracing::info!(file.path = %tls.files.cert.display(), "a new certificate is in use");
                }
                (seen, logged) = (None, None);
            }
            Err(error) => {
                if seen.as_ref() == Some(&error) && logged.as_ref() != Some(&error) {
                    let path = error.path.display().to_string();
                    tracing::error!(
                        file.path = path,
                        "the certificate in use is kept, since its files cannot be used: {error}"
                    );
                    logged = Some(error.clone());
                }
                seen = Some(error);
            }
        }
    }
}

fn read(files: &TlsFiles) -> Result<Contents, TlsError> {
    let read = |file, path: &Path| {
        let what = |error: std::io::Error| format!("cannot read it: {error}");
        fs::read(path).map_err(|error| TlsError { file, path: path.to_owned(), what: what(error) })
    };
    let client_ca = files.client_ca.as_deref().map(|path| read(TlsFile::ClientCa, path)).transpose()?;
    Ok((read(TlsFile::Cert, &files.cert)?, read(TlsFile::Key, &files.key)?, client_ca))
}

fn config(files: &TlsFiles, (cert, key, client_ca): &Contents) -> Result<Arc<ServerConfig>, TlsError> {
    let wrong_cert = |what: String| TlsError { file: TlsFile::Cert, path: files.cert.clone(), what };
    let wrong_key = |what: String| TlsError { file: TlsFile::Key, path: files.key.clone(), what };
    let chain = certificates(cert).map_err(wrong_cert)?;
    let key =
        PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong_key("it holds no private key in PEM form".into()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong_cert(error.to_string()))?;
    let builder = match (client_ca, &files.client_ca) {
        (Some(pem), Some(path)) => {
            let wrong = |what: String| TlsError { file: TlsFile::ClientCa, path: path.clone(), what };
            let mut roots = RootCertStore::empty();
            for authority in certificates(pem).map_err(wrong)? {
                roots.add(authority).map_err(|error| wrong(error.to_string()))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| wrong(error.to_string()))?)
        }
        _ => builder.with_no_client_auth(),
    };
    let config = builder.with_single_cert(chain, key);
    let mut config = config.map_err(|error| wrong_key(format!("it does not fit {}: {error}", files.cert.display())))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The certificates of a PEM file, at least one.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err("it holds no certificate in PEM form".to_owned()),
        Err(error) => Err(format!("it is no PEM file: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::generate_simple_self_signed;

    use super::*;

    fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    // covers: S24
    #[test]
    fn a_new_pair_is_taken_and_a_bad_one_leaves_the_old_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let pair = || {
            let pair = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            (pair.cert.pem(), pair.signing_key.serialize_pem())
        };
        let (one, two) = (pair(), pair());
        let cert = write(folder.path(), "cert.pem", &one.0);
        let key = write(folder.path(), "key.pem", &one.1);
        let tls = Tls::load(TlsFiles { cert: cert.clone(), key, client_ca: None }).unwrap();
        let first = tls.current();
        assert_eq!(tls.reload(), Ok(false));
        write(folder.path(), "cert.pem", &two.0);
        let error = tls.reload().unwrap_err();
        assert_eq!(
            (error.file, error.to_string().contains("key.pem: it does not fit")),
            (TlsFile::Key, true),
            "{error}"
        );
        assert!(Arc::ptr_eq(&first, &tls.current()), "half of a new pair");
        write(folder.path(), "key.pem", &two.1);
        assert_eq!(tls.reload(), Ok(true));
        assert!(!Arc::ptr_eq(&first, &tls.current()));
        for (text, what) in [("", "no certificate"), ("-----BEGIN CERTIFICATE-----\n!", "no PEM file")] {
            write(folder.path(), "cert.pem", text);
            let error = tls.reload().unwrap_err();
            assert_eq!((error.file, &error.path), (TlsFile::Cert, &cert));
            assert!(error.what.contains(what), "{error}");
        }
        fs::remove_file(&cert).unwrap();
        assert!(tls.reload().unwrap_err().what.starts_with("cannot read it: "));
    }
}
