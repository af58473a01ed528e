//! HTTP to a program on this machine: one request a connection, JSON in and out.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// No answer takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// GET; the JSON that came.
pub(crate) fn get(url: &str) -> Result<Value> {
    request("GET", url, None)
}

/// POST of JSON; the JSON that came.
pub(crate) fn post(url: &str, body: &Value) -> Result<Value> {
    request("POST", url, Some(body))
}

fn request(method: &str, url: &str, body: Option<&Value>) -> Result<Value> {
    let rest = url.strip_prefix("http://").with_context(|| format!("{url} is not http"))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(authority).with_context(|| format!("nobody answers at {authority}"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut head = format!("{method} /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n");
    if !body.is_empty() {
        head += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes())?;
    let (status, body) = answer(BufReader::new(stream)).with_context(|| format!("{method} {url}"))?;
    let json: Value = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap_or_default() };
    if !(200..300).contains(&status) {
        let detail = json["detail"].as_str().unwrap_or("no reason given");
        bail!("{method} {url}: {status}: {detail}");
    }
    Ok(json)
}

fn answer(mut stream: impl BufRead) -> Result<(u16, Vec<u8>)> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no HTTP answer")?;
    let (mut length, mut chunked) = (None, false);
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse::<u64>().ok(),
            "transfer-encoding" => chunked = value.trim().eq_ignore_ascii_case("chunked"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        while let Some(size) = chunk(&mut stream)? {
            stream.by_ref().take(size).read_to_end(&mut body)?;
            line.clear();
            stream.read_line(&mut line)?;
        }
    } else {
        stream.take(length.unwrap_or(u64::MAX)).read_to_end(&mut body)?;
    }
    Ok((status, body))
}

/// The size of the next chunk; none after the last.
fn chunk(stream: &mut impl BufRead) -> Result<Option<u64>> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let size = u64::from_str_radix(line.trim().split(';').next().unwrap_or(""), 16).context("a broken chunk")?;
    Ok((size > 0).then_some(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_both_kinds_are_read() {
        let plain = answer(&b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}rest"[..]).unwrap();
        assert_eq!(plain, (201, b"{}".to_vec()));
        let chunked =
            &b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{\"\r\n4\r\na\":1\r\n1\r\n}\r\n0\r\n\r\n"[..];
        assert_eq!(answer(chunked).unwrap(), (200, b"{\"a\":1}".to_vec()));
        assert!(answer(&b""[..]).is_err());
    }
}
