//! The pages of the comparison.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const FORM: &str = include_str!("form.html");

/// Answers its address.
pub(crate) async fn start() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = Vec::new();
                while let Ok(1..) = stream.read_buf(&mut buffer).await {
                    if !buffer.ends_with(b"\r\n\r\n") {
                        continue;
                    }
                    let head = String::from_utf8_lossy(&buffer).into_owned();
                    buffer.clear();
                    let body = page(head.split(' ').nth(1).unwrap_or_default());
                    let head = format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nSet-Cookie: sid=1; HttpOnly\r\n\
                         Cache-Control: no-store\r\nContent-Length: {}\r\n\r\n",
                        body.len()
                    );
                    if stream.write_all(head.as_bytes()).await.is_err()
                        || stream.write_all(body.as_bytes()).await.is_err()
                    {
                        return;
                    }
                }
            });
        }
    });
    Ok(address)
}

fn page(path: &str) -> String {
    match path {
        "/" => FORM.to_owned(),
        "/big" => {
            let item = |i: u32| {
                format!(
                    "<li><a href='/item/{i}'>Item number {i}</a> <button id=b{i}>Buy {i}</button> <span>price {i}.99</span></li>"
                )
            };
            format!("<!doctype html><title>big</title><ul>{}</ul>", (0..5000).map(item).collect::<String>())
        }
        _ => "<!doctype html><title>empty</title>".to_owned(),
    }
}
