//! Signatures: what they are about, how long they last, and that each counts once.

use carillon_protocol::{
    NonceMemory, SIGNATURE_WINDOW_MS, SIGNED_FOR_ADMIN, Signature, SignatureProblem, SignedRequest, SigningKey, headers,
};

const NOW: i64 = 1_790_000_000_000;
const TOKEN: &str = "a token of this test";
const EXECUTOR: &str = "http://10.0.0.5:9999/";
const HEADERS: &[(&str, &str)] =
    &[("content-type", "application/json"), ("Carillon-Run-Id", "7"), (headers::APP, "billing")];

fn request<'a>(
    receiver: &'a str,
    path: &'a str,
    headers: &'a [(&'a str, &'a str)],
) -> SignedRequest<'a, impl Iterator<Item = (&'a str, &'a [u8])>> {
    SignedRequest { receiver, path, headers: headers.iter().map(|(name, value)| (*name, value.as_bytes())) }
}

#[expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
fn signed(nonce: u128, at: i64) -> Signature {
    Signature::parse(value(nonce, at).as_bytes()).unwrap()
}

fn value(nonce: u128, at: i64) -> String {
    let value = SigningKey::new(TOKEN).sign(request(EXECUTOR, "/kill", HEADERS), b"{}", at, nonce);
    assert!(!value.contains(TOKEN));
    value
}

// covers: S25
#[test]
fn a_signature_is_about_the_whole_request() {
    let (key, signature) = (SigningKey::new(TOKEN), signed(1, NOW));
    assert_eq!(signature.key_id, key.id());
    let check = |receiver: &str, path: &str, headers: &[(&str, &str)]| {
        signature.check(&key, request(receiver, path, headers), NOW)
    };
    assert_eq!(check(EXECUTOR, "/kill", HEADERS), Ok(()));
    assert_eq!(check("http://10.0.0.5:9999", "kill", HEADERS), Ok(()), "slashes at the ends do not count");
    let more = [HEADERS, &[("x-proxy", "1"), (headers::SIGNATURE, "what is checked")]].concat();
    assert_eq!(check(EXECUTOR, "/kill", &more), Ok(()), "a proxy may add headers");
    assert_eq!(signature.check_body(b"{}"), Ok(()));

    assert_eq!(signature.check_body(b"{ }"), Err(SignatureProblem::Body));
    let wrong = Err(SignatureProblem::Wrong);
    assert_eq!(check("http://10.0.0.6:9999/", "/kill", HEADERS), wrong, "it was for another executor");
    assert_eq!(check(SIGNED_FOR_ADMIN, "/kill", HEADERS), wrong, "it does not go back to the admin");
    assert_eq!(check(EXECUTOR, "/run", HEADERS), wrong);
    let of_another_run = [("Carillon-Run-Id", "8"), (headers::APP, "billing")];
    let with_one_more = [HEADERS, &[(headers::NOT_AFTER, "9")]].concat();
    for headers in [&of_another_run[..], &HEADERS[..2], &with_one_more] {
        assert_eq!(check(EXECUTOR, "/kill", headers), wrong, "{headers:?}");
    }
    let other = SigningKey::new("another token");
    assert_ne!(other.id(), key.id());
    assert_eq!(signature.check(&other, request(EXECUTOR, "/kill", HEADERS), NOW), wrong);
    let value = value(1, NOW);
    for changed in [value.replace(&NOW.to_string(), &(NOW + 1).to_string()), value.replace("0001;", "0002;")] {
        assert_ne!(changed, value);
        let changed = Signature::parse(changed.as_bytes()).unwrap();
        assert_eq!(
            changed.check(&key, request(EXECUTOR, "/kill", HEADERS), NOW),
            wrong,
            "its time and number are signed"
        );
    }
}

// covers: S25
#[test]
fn a_signature_lasts_a_minute() {
    let (key, signature) = (SigningKey::new(TOKEN), signed(1, NOW));
    let at = |now| signature.check(&key, request(EXECUTOR, "/kill", HEADERS), now);
    assert_eq!((at(NOW - SIGNATURE_WINDOW_MS), at(NOW + SIGNATURE_WINDOW_MS)), (Ok(()), Ok(())));
    for now in [NOW - 60_001, NOW + 60_001, i64::MAX, i64::MIN] {
        assert!(matches!(at(now), Err(SignatureProblem::Clock { seconds: 60.. })), "{now}");
    }
}

// covers: S25
#[test]
fn a_signature_counts_once_and_strangers_fill_no_memory() {
    let mut memory = NonceMemory::new(3);
    assert_eq!(memory.note(&signed(1, NOW), NOW), Ok(()));
    for later in [0, 1, SIGNATURE_WINDOW_MS] {
        assert_eq!(memory.note(&signed(1, NOW), NOW + later), Err(SignatureProblem::Repeated), "{later}");
    }
    assert_eq!((memory.note(&signed(2, NOW), NOW), memory.note(&signed(3, NOW), NOW)), (Ok(()), Ok(())));
    assert_eq!(memory.note(&signed(4, NOW), NOW), Err(SignatureProblem::TooMany), "it never forgets one that is valid");
    assert_eq!(memory.note(&signed(5, NOW + 61_000), NOW + 61_000), Ok(()), "the others are too old by now");
}

// covers: S25, V3
#[test]
fn a_key_that_has_signed_too_much_silences_no_other() {
    let mut memory = NonceMemory::new(2);
    let other = |nonce: u128| {
        let mut signature = signed(nonce, NOW);
        signature.key_id = "another".to_owned();
        signature
    };
    assert_eq!([1, 2].map(|nonce| memory.note(&signed(nonce, NOW), NOW)), [Ok(()), Ok(())]);
    assert_eq!(memory.note(&signed(3, NOW), NOW), Err(SignatureProblem::TooMany));
    assert_eq!([1, 2].map(|nonce| memory.note(&other(nonce), NOW)), [Ok(()), Ok(())], "its numbers are its own too");
    assert_eq!(memory.note(&other(2), NOW), Err(SignatureProblem::Repeated));
    assert_eq!(memory.note(&other(3), NOW), Err(SignatureProblem::TooMany));
    let later = NOW + SIGNATURE_WINDOW_MS + 1000;
    let anew = [4, 5].map(|nonce| memory.note(&signed(nonce, later), later));
    assert_eq!(anew, [Ok(()), Ok(())], "the others are too old by now");
}

// covers: S25
#[test]
fn what_is_no_signature_is_refused() {
    let value = value(1, NOW);
    let parts: Vec<&str> = value.split(';').collect();
    let other = |place: usize, text: &str| {
        let mut parts = parts.clone();
        parts[place] = text;
        parts.join(";")
    };
    let not_hex = "x".repeat(64);
    let wrong = [
        String::new(),
        parts[..5].join(";"),
        value.clone() + ";",
        other(0, "2"),
        other(1, ""),
        other(2, "now"),
        other(3, "1"),
        other(4, &not_hex),
        other(5, &parts[5][2..]),
    ];
    for wrong in wrong {
        assert_eq!(Signature::parse(wrong.as_bytes()).unwrap_err(), SignatureProblem::Unreadable, "{wrong}");
    }
    assert_eq!(Signature::parse(&[0xff]).unwrap_err(), SignatureProblem::Unreadable);
}
