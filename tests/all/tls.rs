//! Requests over TLS: whom they trust, and how they get through a proxy of the operator's own network.

use crate::bench::{Bench, operator, options, tuning};
use crate::guests;
use crate::http::{SECRET, sent, set_secret};
use crate::wire::{Proxy, Reply, Wire, answer};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::json;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use windlass_core::Limits;
use windlass_runtime::Authorities;

/// An authority that nobody trusts yet.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Servers with a certificate for these names, made up otherwise by `change`.
    fn server(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> TlsAcceptor {
        let mut params =
            CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder().with_no_client_auth();
        TlsAcceptor::from(Arc::new(config.with_single_cert(vec![certificate.der().clone()], key).unwrap()))
    }
}

/// A host that trusts this authority, and goes out by this proxy.
async fn sending(authority: Option<&Authority>, proxy: Option<&Proxy>, grants: &[&str]) -> Bench {
    let bench = Bench::with_options(|data| {
        let mut options = options(data, Limits::default(), tuning(), 64);
        if let Some(authority) = authority {
            options.authorities = Authorities::from_pem(authority.pem.as_bytes()).unwrap();
        }
        options.browser.upstream = proxy.map(|proxy| windlass_browser::Upstream::new(&proxy.url, vec![]).unwrap());
        options
    })
    .await;
    bench.install(guests::HTTP_SEND, grants).await;
    bench
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_the_operator_trusts_is_asked_and_nobody_else() {
    let (ours, theirs) = (Authority::new("Ours"), Authority::new("Theirs"));
    let replies = || [("/", Reply::Echo)];
    let good = Wire::secure(ours.server(&["localhost"], |_| ()), replies()).await;
    let foreign = Wire::secure(theirs.server(&["localhost"], |_| ()), replies()).await;
    let misnamed = Wire::secure(ours.server(&["shop.example"], |_| ()), replies()).await;
    let past = |params: &mut CertificateParams| params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let expired = Wire::secure(ours.server(&["localhost"], past), replies()).await;
    let urls = [&good.url, &foreign.url, &misnamed.url, &expired.url];
    let grants = urls.map(|url| format!("http {url}"));
    let grants = grants.each_ref().map(String::as_str);
    let requests: serde_json::Value = urls.iter().map(|url| json!({"url": format!("{url}/")})).collect();

    let bench = sending(Some(&ours), None, &grants).await;
    let (_, got) = sent(&bench, requests.clone()).await;
    assert!(got[0].starts_with("200 ") && got[0].contains(&format!("host: {}", &good.url[8..])), "{}", got[0]);
    for (answer, why) in got[1..].iter().zip(["UnknownIssuer", "not valid for name", "expired"]) {
        assert!(answer.starts_with("unavailable - ") && answer.contains(why), "{why}: {answer}");
    }
    let bench = sending(None, None, &grants).await;
    let (_, got) = sent(&bench, requests).await;
    assert!(got[0].starts_with("unavailable - ") && got[0].contains("UnknownIssuer"), "{}", got[0]);
    assert!(got[0].contains("ca-file"), "the cure is named: {}", got[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_off_tls_takes_no_secret_along() {
    let ours = Authority::new("Ours");
    let plain = Wire::start([("/", Reply::Echo)]).await;
    let to = |location: &str| answer("302 Found", &[&format!("location: {location}")], b"");
    let other = Wire::secure(ours.server(&["localhost"], |_| ()), [("/", to(&plain.url))]).await;
    let forbidden = Wire::secure(ours.server(&["localhost"], |_| ()), [("/", Reply::Echo)]).await;
    let replies = [("/down", to(&plain.url)), ("/over", to(&other.url)), ("/away", to(&forbidden.url))];
    let wire = Wire::secure(ours.server(&["localhost"], |_| ()), replies).await;
    let grants = [&wire.url, &other.url, &plain.url].map(|url| format!("http {url}"));
    let mut lines: Vec<_> = grants.iter().map(String::as_str).collect();
    lines.push("secret shop-token");
    let bench = sending(Some(&ours), None, &lines).await;
    set_secret(&bench, SECRET, &wire.url).await;
    let private = json!([["cookie", "a=b"], ["authorization", "Basic eA=="], ["x-api-key", "k"], ["x-other", "kept"]]);
    let ask = |path: &str| json!({"url": format!("{}{path}", wire.url), "secret": ["x-shop", "shop-token", ""], "headers": private});
    let (_, got) = sent(&bench, json!([ask("/down"), ask("/over"), ask("/away")])).await;
    for answer in &got[..2] {
        let asked = answer.to_ascii_lowercase();
        assert!(asked.starts_with(&format!("200 {}/", plain.url)) && asked.contains("x-other: kept"), "{asked}");
        for name in ["x-shop", "cookie", "authorization", "x-api-key"] {
            assert!(!asked.contains(name), "{name} went along: {asked}");
        }
    }
    assert!(got[2].starts_with(&format!("denied http {} ", forbidden.url)), "{}", got[2]);
    assert_eq!(forbidden.hits(), 0, "not even a connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_of_the_network_carries_requests_and_sees_no_word_of_those_over_tls() {
    let ours = Authority::new("Ours");
    let wire = Wire::secure(ours.server(&["localhost"], |_| ()), [("/secret-path", Reply::Echo)]).await;
    let plain = Wire::start([("/plain", Reply::Echo)]).await;
    let proxy = Proxy::start("me:p%40ss", "Basic bWU6cEBzcw==").await;
    let grants = [&wire.url, &plain.url].map(|url| format!("http {url}"));
    let bench = sending(Some(&ours), Some(&proxy), &grants.each_ref().map(String::as_str)).await;
    let other = Wire::start([("/", Reply::Echo)]).await;
    let requests = json!([
        {"url": format!("{}/secret-path", wire.url)},
        {"url": format!("{}/plain", plain.url)},
        {"url": other.url},
    ]);
    let (_, got) = sent(&bench, requests).await;
    assert!(got[0].starts_with(&format!("200 {}/secret-path ", wire.url)), "{}", got[0]);
    assert!(got[1].starts_with(&format!("200 {}/plain ", plain.url)), "{}", got[1]);
    assert!(!got[1].to_ascii_lowercase().contains("proxy-authorization"), "the proxy's own: {}", got[1]);
    assert!(got[2].starts_with("denied http "), "the fence stands before the proxy: {}", got[2]);
    let heads = proxy.heads();
    assert_eq!(heads.len(), 2, "{heads:?}");
    let target = &wire.url["https://".len()..];
    assert!(heads[0].starts_with(&format!("CONNECT {target} HTTP/1.1\r\n")), "{}", heads[0]);
    assert!(heads[1].starts_with("CONNECT 127.0.0.1:"), "{heads:?}");
    assert!(!heads.concat().contains("secret-path") && other.hits() == 0);

    // A proxy that wants another word is named in the answer, its password is not.
    let closed = Proxy::start("me:wrong", "Basic other").await;
    let bench = sending(Some(&ours), Some(&closed), &grants.each_ref().map(String::as_str)).await;
    let (_, got) = sent(&bench, json!([{"url": format!("{}/secret-path", wire.url)}])).await;
    assert!(got[0].starts_with("unavailable - ") && got[0].contains("407") && !got[0].contains("wrong"), "{}", got[0]);
    assert!(bench.host.secrets(&operator()).await.unwrap().is_empty());
}
