//! Certificates for a test, made when it runs.

use std::fs;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

/// An authority that signs for servers and clients at 127.0.0.1.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

/// PEM texts of a certificate and its key.
pub struct CertificatePair {
    /// The certificate.
    pub cert: String,
    /// The private key of the certificate.
    pub key: String,
}

impl Authority {
    /// A new one.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    /// Its own certificate in PEM form.
    pub fn pem(&self) -> &str {
        &self.certificate
    }

    /// For a server and client at 127.0.0.1 and `localhost`.
    pub fn issue(&self) -> CertificatePair {
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        CertificatePair { cert: params.signed_by(&key, &self.issuer).unwrap().pem(), key: key.serialize_pem() }
    }

    /// Writes `ca.pem`.
    pub fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("ca.pem");
        fs::write(&path, &self.certificate).unwrap();
        path
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl CertificatePair {
    /// Writes `NAME.pem` and `NAME.key`.
    pub fn write(&self, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let (cert, key) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
        fs::write(&cert, &self.cert).unwrap();
        fs::write(&key, &self.key).unwrap();
        (cert, key)
    }
}
