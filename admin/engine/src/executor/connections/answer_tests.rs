use super::*;

/// What comes of an answer that arrives in pieces of `size` bytes, and what is left behind it.
async fn read_in_pieces(text: &str, size: usize, limit: usize) -> (io::Result<Answer>, Vec<u8>) {
    let (mut executor, mut source) = tokio::io::duplex(size);
    let text = text.as_bytes().to_vec();
    let writes = async move {
        // A reader that has seen enough goes.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut executor, &text).await;
    };
    let reads = async move {
        let mut buffer = vec![];
        let answer = read_answer(&mut source, &mut buffer, limit).await;
        (answer, buffer)
    };
    tokio::join!(writes, reads).1
}

/// The same answer, however it arrives.
async fn read(text: &str) -> io::Result<Answer> {
    let whole = read_in_pieces(text, 1 << 20, 100).await.0;
    for size in [1, 2, 3, 7, 50] {
        let answer = read_in_pieces(text, size, 100).await.0;
        match (&whole, &answer) {
            (Ok(whole), Ok(answer)) => assert_eq!(answer, whole, "pieces of {size}: {text:?}"),
            (whole, answer) => assert_eq!(answer.is_ok(), whole.is_ok(), "pieces of {size}: {text:?}"),
        }
    }
    whole
}

async fn read_well(text: &str) -> Answer {
    read(text).await.unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[tokio::test]
async fn bodies_end_where_their_head_says() {
    for (text, body, keeps_connection) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", "{}", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\nX: y\r\n\r\n{}", "{}", true),
        ("HTTP/1.1 200\r\ncontent-length:2\r\n\r\n{}", "{}", true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: x, Close\r\n\r\n{}", "{}", false),
        ("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}", "{}", false),
        ("HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 2\r\n\r\n{}", "{}", true),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"a\":1}", "{\"a\":1}", false),
        ("HTTP/1.1 200 OK\r\n\r\n{}", "{}", false),
        ("HTTP/1.1 204 No Content\r\n\r\n", "", true),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", "{}", true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n", "{}", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n2\r\n{}\r\n0\r\nx: y\r\n\r\n", "{}", true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "{}", false),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n{}", "{}", false),
    ] {
        let answer = read_well(text).await;
        assert_eq!(
            answer,
            Answer { status: answer.status, body: body.into(), location: None, received_at: None, keeps_connection },
            "{text:?}"
        );
        assert!([200, 204].contains(&answer.status));
    }
}

#[tokio::test]
async fn what_is_cut_or_no_http_is_an_error() {
    for (text, why) in [
        ("", "closed before the answer"),
        ("HTTP/1.1 200 OK\r\ncontent-le", "closed before the answer"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", "closed before the answer"),
        ("HTTP/1.1 100 Continue\r\n\r\n", "closed before the answer"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n", "closed before the answer"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", "closed before the answer"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n", "chunks"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{}\r\n", "chunk of it has no end"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}", "content-length"),
        ("HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\n{}", "content-length"),
        ("HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\n{}", "content-length"),
        ("no HTTP at all\r\n\r\n", "no HTTP"),
    ] {
        let error = read(text).await.unwrap_err().to_string();
        assert!(error.contains(why), "{text:?}: {error}");
    }
}

#[tokio::test]
async fn a_body_above_the_limit_is_cut() {
    let long = "x".repeat(300);
    for head in
        ["content-length: 300\r\n\r\n", "transfer-encoding: chunked\r\n\r\n12c\r\n", "connection: close\r\n\r\n"]
    {
        let answer = read_well(&format!("HTTP/1.1 200 OK\r\n{head}{long}")).await;
        assert_eq!(
            answer,
            Answer { status: 200, body: vec![b'x'; 100], location: None, received_at: None, keeps_connection: false },
            "{head:?}"
        );
    }
    let exact = read_well(&format!("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}", "x".repeat(100))).await;
    assert_eq!(
        exact,
        Answer { status: 200, body: vec![b'x'; 100], location: None, received_at: None, keeps_connection: true }
    );
}

#[tokio::test]
async fn a_head_has_a_limit() {
    let long = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(HEAD_LIMIT));
    let (answer, _) = read_in_pieces(&long, 1 << 20, 100).await;
    assert!(answer.unwrap_err().to_string().contains("too long"));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(MOST_HEADERS + 1));
    assert!(read_in_pieces(&many, 1 << 20, 100).await.0.unwrap_err().to_string().contains("too many headers"));
}

// covers: W25
#[tokio::test]
async fn a_head_in_single_bytes_is_parsed_once_a_line() {
    let text = format!("HTTP/1.1 200 OK\r\nx: {}\r\ncontent-length: 2\r\n\r\n{{}}", "y".repeat(1_000));
    let (mut executor, mut source) = tokio::io::duplex(1);
    let times = std::cell::Cell::new(0);
    let writes = tokio::io::AsyncWriteExt::write_all(&mut executor, text.as_bytes());
    let reads = async {
        let mut buffer = vec![];
        let mut reader = Reader { source: &mut source, buffer: &mut buffer };
        let counted = |bytes: &[u8]| {
            times.set(times.get() + 1);
            let found = bytes.windows(4).position(|four| four == b"\r\n\r\n");
            Ok(found.map_or(Status::Partial, |at| Status::Complete((at + 4, ()))))
        };
        reader.parsed(counted).await.unwrap();
        reader.part(2, &mut Body { bytes: vec![], limit: 2 }).await.unwrap();
    };
    tokio::join!(writes, reads).0.unwrap();
    assert_eq!(times.get(), 4, "once for each line");
}

#[tokio::test]
async fn an_answer_may_have_many_headers() {
    let many = format!("HTTP/1.1 200 OK\r\n{}content-length: 2\r\n\r\n{{}}", "x: y\r\n".repeat(200));
    assert_eq!(read_well(&many).await.body, b"{}");
}

#[tokio::test]
async fn what_follows_an_answer_ends_its_connection() {
    let two = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n";
    let (answer, left) = read_in_pieces(two, 1 << 20, 100).await;
    assert_eq!(
        answer.unwrap(),
        Answer { status: 200, body: b"{}".into(), location: None, received_at: None, keeps_connection: false }
    );
    assert_eq!(left, b"HTTP/1.1 200 OK\r\n");
}
