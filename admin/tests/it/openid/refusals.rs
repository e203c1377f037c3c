//! What must not sign anybody in.

use std::time::Duration;

use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};

use super::fake::Bent;
use super::{World, is_signed_in, run};
use crate::console::client::START;

/// Makes the provider's next answer wrong.
type Bend = Box<dyn FnOnce(&mut Bent)>;

const UNKNOWN: &str = "This sign-in has expired, was used already or began in another browser.";
const SECONDS: i64 = START / 1000;

fn claim(name: &'static str, value: Value) -> Box<dyn FnOnce(&mut Bent)> {
    Box::new(move |bent| bent.claims = json!({ name: value }))
}

#[test]
fn a_token_that_fails_a_check_signs_nobody_in() {
    run(async {
        let world = World::start().await;
        let faults: Vec<(&str, Bend)> = vec![
            ("another nonce", claim("nonce", json!("another"))),
            ("no nonce", claim("nonce", Value::Null)),
            ("another client's", claim("aud", json!("another"))),
            ("for two clients", claim("aud", json!(["carillon", "another"]))),
            ("another issuer's", claim("iss", json!("https://other.example"))),
            ("expired", claim("exp", json!(SECONDS - 61))),
            ("of the future", claim("iat", json!(SECONDS + 61))),
            ("without a person", claim("sub", Value::Null)),
            ("of another access token", claim("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA"))),
            ("unsigned", Box::new(|bent| bent.is_unsigned = true)),
            ("signed by a stranger", Box::new(Bent::forge)),
            ("not from its issuer", Box::new(|bent| bent.returned_issuer = Some("https://other.example".into()))),
            ("from an issuer that it does not name", Box::new(|bent| bent.returned_issuer = None)),
            (
                "about another person",
                Box::new(|bent| {
                    bent.claims = json!({"groups": null});
                    bent.user_info = json!({"sub": "another", "groups": ["ops"]});
                }),
            ),
        ];
        let issuer = world.fake.issuer.clone();
        for (what, fault) in faults {
            world.fake.bend(|bent| {
                (bent.claims, bent.user_info, bent.is_unsigned) = (json!({}), json!({}), false);
                bent.returned_issuer = Some(issuer.clone());
                bent.rotate();
                fault(bent);
            });
            let visitor = world.console.visitor();
            let answer = world.sign_in(&visitor).await;
            assert_eq!(answer.status, 502, "{what}: {}", answer.body);
            assert!(answer.body.contains("did not pass a check"), "{what}");
            assert!(!is_signed_in(&visitor), "{what}");
        }
        assert_eq!(world.console.store.people().accounts().await.unwrap().len(), 1, "no account was made");
    });
}

#[test]
fn a_clock_may_be_a_minute_off() {
    run(async {
        let world = World::start().await;
        for times in [json!({"exp": SECONDS - 59}), json!({"iat": SECONDS + 59})] {
            world.fake.bend(|bent| bent.claims = times.clone());
            assert_eq!(world.sign_in(&world.console.visitor()).await.location(), "/jobs", "{times}");
        }
    });
}

#[test]
fn a_state_counts_once_in_the_browser_in_which_it_began_for_ten_minutes() {
    run(async {
        let world = World::start().await;
        let (visitor, other) = (world.console.visitor(), world.console.visitor());
        let back = world.begin(&visitor).await;
        for stranger in [&other, &world.console.visitor()] {
            let answer = stranger.get(&back).await;
            assert_eq!(answer.status, 401);
            assert!(answer.body.contains(UNKNOWN));
        }
        world.begin(&other).await;
        assert_eq!(other.get(&back).await.status, 401, "it has a sign-in of its own, but not this one");
        assert_eq!(visitor.get(&back).await.location(), "/jobs");
        assert!(is_signed_in(&visitor));

        let cookies = visitor.cookies.lock().unwrap().clone();
        let again = visitor.get(&back).await;
        assert_eq!(again.status, 401, "it is used up");
        assert_eq!(*visitor.cookies.lock().unwrap(), cookies);

        let late = world.console.visitor();
        let back = world.begin(&late).await;
        world.console.clock.advance(Duration::from_secs(601));
        assert_eq!(late.get(&back).await.status, 401);
        assert!(!is_signed_in(&late));
    });
}

#[test]
fn two_windows_of_a_browser_do_not_disturb_each_other() {
    run(async {
        let world = World::start().await;
        let visitor = world.console.visitor();
        let (one, two) = (world.begin(&visitor).await, world.begin(&visitor).await);
        assert_eq!(visitor.get(&one).await.location(), "/jobs");
        assert_eq!(visitor.get(&two).await.location(), "/jobs");
    });
}

#[test]
fn another_site_cannot_begin_a_sign_in() {
    run(async {
        let world = World::start().await;
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let address = format!("{}/login/openid", world.console.url);
        for (site, to) in [("cross-site", "/login"), ("same-site", "/login"), ("same-origin", "http"), ("none", "http")]
        {
            let answer = client.get(&address).header("sec-fetch-site", site).send().await.unwrap();
            let location = answer.headers()["location"].to_str().unwrap();
            assert!(location.starts_with(to), "{site}: {location}");
        }
    });
}

#[test]
fn the_providers_refusal_is_shown_in_our_words() {
    run(async {
        let world = World::start().await;
        let visitor = world.console.visitor();
        let back = world.begin(&visitor).await;
        let state = back.split(['?', '&']).find(|part| part.starts_with("state=")).unwrap();
        let answer = visitor.get(&format!("/login/openid/callback?{state}&error=access_denied%3Cb%3E")).await;
        assert_eq!(answer.status, 403);
        assert!(
            answer.body.contains("Example Login has refused the sign-in.") && !answer.body.contains("access_denied")
        );
        // A code that the provider does not know.
        let answer = visitor.get(&format!("/login/openid/callback?{state}&code=x&iss={}", world.fake.issuer)).await;
        assert_eq!(answer.status, 403);
        assert!(!is_signed_in(&visitor));
    });
}

// covers: W2
#[test]
fn sign_ins_that_others_have_begun_leave_nothing_and_end_none() {
    run(async {
        let world = World::start().await;
        let (stranger, visitor) = (world.console.visitor(), world.console.visitor());
        let back = world.begin(&visitor).await;
        for _ in 0..1_100 {
            assert_eq!(stranger.get("/login/openid").await.status, 303);
        }
        let raw = sea_orm::Database::connect(world._database.direct_url()).await.unwrap();
        let rows = async || {
            let text = "SELECT COUNT(*) FROM sign_in_step";
            let counted = sea_orm::Statement::from_string(sea_orm::DbBackend::Sqlite, text);
            let row = raw.query_one_raw(counted).await.unwrap().unwrap();
            row.try_get_by_index::<i64>(0).unwrap()
        };
        assert_eq!(rows().await, 0, "nothing is stored of a sign-in that has begun");
        assert_eq!(visitor.get(&back).await.location(), "/jobs", "and its own goes on");
        assert_eq!(rows().await, 1, "that it was used");
        assert_eq!(world.console.visitor().get("/login/openid").await.status, 303);
    });
}
