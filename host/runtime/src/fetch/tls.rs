//! TLS to the places that plugins ask. Trusted is what the machine trusts, so that a company's own authority counts and a
//! revoked one goes with an update of the system.

use std::io;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use windlass_core::Origin;

/// The one configuration of a host; read when it is first needed.
#[derive(Default)]
pub(crate) struct Tls(OnceLock<Result<TlsConnector, String>>);

impl Tls {
    /// Shakes hands with an origin.
    pub(crate) async fn connect(&self, origin: &Origin, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let connector = self.0.get_or_init(connector).as_ref().map_err(|why| io::Error::other(why.clone()))?;
        let host = origin.host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        connector.connect(name, stream).await
    }
}

fn connector() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "a certificate of the system can't be read");
    }
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        return Err(
            "this machine trusts no certificate authority: install ca-certificates, or name a file in SSL_CERT_FILE"
                .into(),
        );
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
