//! A wire to the server on which something happens before the first change passes.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Passes all connections on to `to` (host and port) and answers its own address. Before the first piece with `mark` is passed on,
/// `event` happens.
pub async fn wire<F: Future<Output = ()> + Send + 'static>(to: &str, mark: &'static str, event: F) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let to = to.to_owned();
    tokio::spawn(async move {
        let mut event = Some(event);
        // The client keeps one connection at a time in use when it writes; the others are from its reads.
        let event = std::sync::Arc::new(tokio::sync::Mutex::new(event.take().map(Box::pin)));
        while let Ok((client, _)) = listener.accept().await {
            let (to, event) = (to.clone(), event.clone());
            tokio::spawn(async move {
                let server = TcpStream::connect(to).await.unwrap();
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = server.into_split();
                tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
                let mut buffer = vec![0; 1 << 16];
                while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
                    if String::from_utf8_lossy(&buffer[..read]).starts_with(mark)
                        && let Some(event) = event.lock().await.take()
                    {
                        event.await;
                    }
                    to_server.write_all(&buffer[..read]).await.unwrap();
                }
            });
        }
    });
    address
}
