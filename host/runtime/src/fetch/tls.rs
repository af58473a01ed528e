//! TLS to the places that plugins ask. Trusted is what the machine trusts, so that a company's own authority counts and a
//! revoked one goes with an update of the system; and the authorities that the operator adds, where the machine's own list
//! is not his to change.

use std::io;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use windlass_core::Origin;

/// Certificate authorities that requests of plugins trust beside those of the machine; none by default.
#[derive(Clone, Debug, Default)]
pub struct Authorities(Vec<CertificateDer<'static>>);

impl Authorities {
    /// From PEM: one certificate or several, anything else in it is passed over.
    ///
    /// # Errors
    /// There is no certificate in it, or one that is no authority's.
    pub fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let read = read.map_err(|e| format!("it is not PEM: {e}"))?;
        if read.is_empty() {
            return Err("there is no certificate in it".into());
        }
        let mut roots = RootCertStore::empty();
        for (at, certificate) in read.iter().enumerate() {
            let unusable = |e| format!("certificate {} of {} can't be used: {e}", at + 1, read.len());
            roots.add(certificate.clone()).map_err(unusable)?;
        }
        Ok(Self(read))
    }
}

/// The one configuration of a host; read when it is first needed.
pub(crate) struct Tls {
    added: Authorities,
    connector: OnceLock<Result<TlsConnector, String>>,
}

impl Tls {
    pub(crate) fn new(added: Authorities) -> Self {
        Self { added, connector: OnceLock::new() }
    }

    /// Shakes hands with an origin.
    pub(crate) async fn connect(&self, origin: &Origin, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let connector = self
            .connector
            .get_or_init(|| connector(&self.added))
            .as_ref()
            .map_err(|why| io::Error::other(why.clone()))?;
        let host = origin.host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        connector.connect(name, stream).await
    }
}

/// Why a handshake failed, with what an operator can do about it.
pub(super) fn told(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => {
            format!("{error}: the setting ca-file names authorities to trust beside the machine's own")
        }
        _ => error.to_string(),
    }
}

fn connector(added: &Authorities) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "a certificate of the system can't be read");
    }
    roots.add_parsable_certificates(found.certs);
    roots.add_parsable_certificates(added.0.iter().cloned());
    if roots.is_empty() {
        return Err(
            "this machine trusts no certificate authority: install ca-certificates, or name a file by the setting ca-file"
                .into(),
        );
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_authority_is_refused_with_the_reason() {
        for (pem, why) in [
            ("", "there is no certificate in it"),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "there is no certificate in it"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "certificate 1 of 1 can't be used"),
            ("-----BEGIN CERTIFICATE-----\nno base64 !\n-----END CERTIFICATE-----\n", "it is not PEM"),
        ] {
            let error = Authorities::from_pem(pem.as_bytes()).unwrap_err();
            assert!(error.starts_with(why), "{pem}: {error}");
        }
    }
}
