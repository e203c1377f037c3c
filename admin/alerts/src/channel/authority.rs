//! Which certificates of mail servers are trusted.

use lettre::transport::smtp::client::{Certificate, CertificateStore, TlsParameters};

/// For a connection to this host. With an authority of its own, `ca`, no other is trusted.
///
/// # Errors
/// What is wrong with the certificates or the host.
pub fn tls_parameters(host: &str, ca: &str) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(host.to_owned());
    if !ca.is_empty() {
        let authority = Certificate::from_pem(ca.as_bytes()).map_err(|error| error.to_string())?;
        builder = builder.certificate_store(CertificateStore::None).add_root_certificate(authority);
    }
    builder.build().map_err(|error| error.to_string())
}

/// Whether certificates can be used as `ca`. A key among them would be shown with the settings.
pub fn is_authority(pem: &str) -> bool {
    pem.contains("-----BEGIN CERTIFICATE-----")
        && !pem.contains("PRIVATE KEY")
        && tls_parameters("localhost", pem).is_ok()
}
