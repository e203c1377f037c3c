//! Requests to a node, byte by byte: no library chooses a header, its spelling or its order.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::flow::node::Node;

/// The first line, the other lines of the head, and the body.
pub struct Message {
    pub start: String,
    pub head: Vec<String>,
    pub body: String,
}

impl Message {
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.iter().filter_map(|line| line.split_once(':'));
        headers.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// `Null`: the body is no JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Whether it is the answer of success, to the byte.
    pub fn is_success(&self) -> bool {
        self.start == "HTTP/1.1 200 OK" && self.body == r#"{"code":200,"msg":null,"content":null,"data":null}"#
    }

    /// `None`: the connection ends.
    pub async fn read(stream: &mut BufReader<impl AsyncRead + Unpin>) -> Option<Self> {
        let mut lines = vec![];
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let mut message = Self { start: lines.remove(0), head: lines, body: String::new() };
        let mut body = vec![0; message.header("content-length").map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await.ok()?;
        message.body = String::from_utf8(body).unwrap();
        Some(message)
    }
}

/// The header of the token of all apps.
pub fn token(node: &Node) -> String {
    format!("XXL-JOB-ACCESS-TOKEN: {}", node.config.access_token)
}

/// Posts a body with these headers, and those of its length and receiver. `None`: the connection was cut.
pub async fn post(node: &Node, path: &str, headers: &[&str], body: &str) -> Option<Message> {
    send(node, &format!("POST {path}"), headers, body).await
}

/// As [`post`], with the method before the path.
pub async fn send(node: &Node, request: &str, headers: &[&str], body: &str) -> Option<Message> {
    let address = node.url.trim_start_matches("http://");
    let stream = TcpStream::connect(address).await.unwrap();
    let mut stream = BufReader::new(stream);
    let own: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    let text = format!("{request} HTTP/1.1\r\nHost: {address}\r\n{own}Content-Length: {length}\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).await.unwrap();
    Message::read(&mut stream).await
}

/// Posts results to a node whose results are written meanwhile.
pub async fn report(node: &Node, headers: &[&str], body: &str) -> Message {
    let answer = node.while_completing(post(node, "/xxl-job-admin/api/callback", headers, body)).await;
    answer.expect("an answer")
}

pub fn registration(address: &str) -> String {
    format!(r#"{{"registryGroup":"EXECUTOR","registryKey":"orders","registryValue":"{address}"}}"#)
}
