use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// A server that answers each piece with `<piece>!` and keeps what it got.
async fn echo() -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let got = Arc::new(Mutex::new(Vec::new()));
    let kept = got.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let kept = kept.clone();
            tokio::spawn(async move {
                let mut buffer = [0; 1024];
                while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                    kept.lock().unwrap().extend_from_slice(&buffer[..length]);
                    let _ = stream.write_all(&buffer[..length]).await;
                    let _ = stream.write_all(b"!").await;
                }
            });
        }
    });
    (address, got)
}

/// What comes back until the connection ends or half a second is over.
async fn said(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let mut buffer = [0; 1024];
    let reading = async {
        while let Ok(length @ 1..) = stream.read(&mut buffer).await {
            all.extend_from_slice(&buffer[..length]);
        }
    };
    let _ = tokio::time::timeout(Duration::from_millis(500), reading).await;
    String::from_utf8(all).unwrap()
}

async fn ask(wire: &Wire, text: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(wire.address).await else {
        return "refused".into();
    };
    stream.write_all(text.as_bytes()).await.unwrap();
    said(&mut stream).await
}

fn arrived(got: &Mutex<Vec<u8>>) -> String {
    String::from_utf8(std::mem::take(&mut *got.lock().unwrap())).unwrap()
}

#[tokio::test]
async fn each_trick_does_what_its_name_says() {
    let (address, got) = echo().await;
    let wire = Wire::open(address).await.unwrap();
    assert_eq!(ask(&wire, "hello").await, "hello!");
    arrived(&got);
    let cases = [
        (Trick::CutForwarded, "", "a commit b"),
        (Trick::LoseAnswer, "", "a commit b"),
        (Trick::Answer("no".into()), "no", ""),
        (Trick::Replace("no".into()), "no", "a commit b"),
    ];
    for (trick, answer, received) in cases {
        wire.set_trap(Trap::new("COMMIT", trick.clone(), 1));
        assert_eq!(ask(&wire, "begin").await, "begin!");
        arrived(&got);
        assert_eq!(ask(&wire, "a commit b").await, answer, "{trick:?}");
        // The client may learn of a cut before the server has read what was forwarded.
        for _ in 0..50 {
            if *got.lock().unwrap() == received.as_bytes() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(arrived(&got), received, "{trick:?}");
        assert_eq!(ask(&wire, "commit").await, "commit!", "once only");
        arrived(&got);
    }
    assert_eq!(wire.sprung(), 4);
}

#[tokio::test]
async fn a_wire_is_down_silent_cut_led_elsewhere_and_healed() {
    let (address, _) = echo().await;
    let wire = Wire::open(address).await.unwrap();
    wire.set(Mode { down: true, ..Mode::default() });
    assert!(comes("refused", &wire).await);
    wire.set(Mode { silent: true, ..Mode::default() });
    assert!(comes("refused", &wire).await);
    wire.set(Mode { cut_after: Some(3), ..Mode::default() });
    assert!(ask(&wire, "abcd").await.len() <= 5);
    wire.recover();
    assert!(comes("a!", &wire).await);
    let mut open = TcpStream::connect(wire.address).await.unwrap();
    open.write_all(b"a").await.unwrap();
    assert_eq!(said(&mut open).await, "a!");
    let (other, got) = echo().await;
    wire.lead_to(other);
    assert_eq!(said(&mut open).await, "");
    assert_eq!(ask(&wire, "b").await, "b!");
    assert_eq!(arrived(&got), "b");
}

#[tokio::test]
async fn a_held_piece_arrives_when_its_client_has_given_up() {
    let (address, got) = echo().await;
    let wire = Wire::open(address).await.unwrap();
    wire.set_trap(Trap::new("POST /loop ", Trick::Hold(Duration::from_millis(50)), 1));
    wire.set_trap(Trap::new("commit", Trick::LoseAnswer, 1));
    assert_eq!(ask(&wire, "POST /loop/stop").await, "POST /loop/stop!", "another path");
    arrived(&got);
    assert_eq!(ask(&wire, "POST /loop x").await, "", "its client gets no answer");
    wire.cut();
    for _ in 0..500 {
        if wire.delivered_late() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((wire.held(), wire.delivered_late(), arrived(&got).as_str()), (1, 1, "POST /loop x"));
    wire.clear_traps("POST /loop ");
    assert_eq!(ask(&wire, "commit").await, "", "the trap of another fault is still there");
}

#[tokio::test]
async fn a_silenced_connection_never_speaks_again_and_new_ones_do() {
    let (address, got) = echo().await;
    let wire = Wire::open(address).await.unwrap();
    let mut old = TcpStream::connect(wire.address).await.unwrap();
    old.write_all(b"a").await.unwrap();
    assert_eq!(said(&mut old).await, "a!");
    arrived(&got);
    wire.silence();
    old.write_all(b"lost").await.unwrap();
    assert_eq!(ask(&wire, "b").await, "b!", "a new connection");
    wire.recover();
    assert_eq!(said(&mut old).await, "", "healing does not revive it");
    let mut byte = [0];
    let ended = tokio::time::timeout(Duration::from_millis(100), old.read(&mut byte)).await;
    assert!(ended.is_err(), "the client does not learn of it");
    assert_eq!(arrived(&got), "b");
}

/// Whether the answer is this one, within a second.
async fn comes(answer: &str, wire: &Wire) -> bool {
    for _ in 0..50 {
        if ask(wire, "a").await == answer {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}
