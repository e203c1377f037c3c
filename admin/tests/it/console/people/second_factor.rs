//! The second factor: set up, asked for, used once, lost and removed.

use std::sync::Arc;
use std::time::Duration;

use carillon_accounts::people;
use carillon_accounts::second_factor::{Secret, code_at};
use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;
use carillon_accounts::setup::FIRST_ADMIN;
use carillon_scheduler::{Clock as _, ManualClock};
use carillon_store::{Actor, Grants, Role};

use crate::console::client::{Answer, Console, ConsoleClient, START};
use crate::console::run;
use crate::services::{Kind, TestDatabase};

pub(super) const WRONG: &str = "This code is wrong or was used already.";

pub(super) struct World {
    pub console: Console,
    _database: TestDatabase,
}

impl World {
    pub async fn start() -> Self {
        Self::with(|_| ()).await
    }

    pub async fn with(change: impl FnOnce(&mut carillon_admin::config::Config)) -> Self {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let mut config = database.config();
        config.admin_password = Some(random_secret());
        config.secret_keys = SecretKeys::parse(&random_secret()).unwrap();
        change(&mut config);
        Self { console: Console::on(config, Arc::new(ManualClock::new(START))).await, _database: database }
    }

    pub fn code(&self, secret: &Secret) -> String {
        code_at(secret, self.console.clock.now())
    }

    /// Codes of the next step are others.
    pub fn next_step(&self) {
        self.console.clock.advance(Duration::from_secs(30));
    }

    /// Sets the second factor of the administrator up; returns its secret and the recovery codes.
    pub async fn set_up(&self, admin: &ConsoleClient) -> (Secret, Vec<String>) {
        let secret =
            shown_secret(&admin.submit("/account/second-factor", &[("password", &self.console.password)]).await);
        let code = self.code(&secret);
        let answer = admin.submit("/account/second-factor/confirm", &[("code", &code)]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.header("cache-control"), "no-store");
        let codes = answer.body.split("data-testid=\"recovery-codes\"><code>").nth(1).unwrap();
        let codes: Vec<String> = codes.split("</code>").next().unwrap().split_whitespace().map(str::to_owned).collect();
        assert_eq!(codes.len(), 10);
        self.next_step();
        (secret, codes)
    }

    /// The password alone: the page that asks for the code, and its half of the step's name.
    pub async fn half_signed_in(&self, visitor: &ConsoleClient) -> String {
        let answer = visitor.sign_in(FIRST_ADMIN, &self.console.password).await;
        assert_eq!(answer.status, 200);
        assert!(answer.body.contains("data-testid=\"code-form\""));
        assert!(!visitor.cookies.lock().unwrap().contains_key("carillon_session"));
        assert_eq!(visitor.get("/jobs").await.location(), "/login?next=%2Fjobs", "half of it opens nothing");
        answer.hidden("handle")
    }

    pub async fn send_code(&self, visitor: &ConsoleClient, handle: &str, code: &str) -> Answer {
        visitor.post("/login/code", Some(&self.console.url), &[("handle", handle), ("code", code)]).await
    }
}

pub(super) fn shown_secret(answer: &Answer) -> Secret {
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(answer.body.contains("<svg class=\"qr\""));
    let text = answer.body.split("data-testid=\"secret\">").nth(1).unwrap().split('<').next().unwrap();
    Secret::from_text(text.replace(' ', ""))
}

// covers: S9
#[test]
fn a_code_is_asked_for_after_the_password_and_counts_once() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let (secret, _) = world.set_up(&admin).await;
        assert!(admin.get("/account").await.body.contains("10 recovery codes are left"));

        let visitor = world.console.visitor();
        let handle = world.half_signed_in(&visitor).await;
        let code = world.code(&secret);
        let wrong = world.send_code(&visitor, &handle, "000000").await;
        assert_eq!(wrong.status, 401);
        assert!(wrong.body.contains(WRONG));
        let answer = world.send_code(&visitor, &handle, &format!("{} {}", &code[..3], &code[3..])).await;
        assert_eq!((answer.status, answer.location()), (303, "/"));
        assert_eq!(visitor.get("/jobs").await.status, 200);

        let second = world.console.visitor();
        let handle = world.half_signed_in(&second).await;
        assert_eq!(world.send_code(&second, &handle, &code).await.status, 401, "it was used");
        world.next_step();
        assert_eq!(world.send_code(&second, &handle, &world.code(&secret)).await.status, 303);
        let again = world.send_code(&second, &handle, &world.code(&secret)).await;
        assert_ne!(again.status, 303, "the step is used up");
    });
}

// covers: S34
#[test]
fn the_secret_and_the_recovery_codes_are_not_in_the_database() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let (secret, codes) = world.set_up(&admin).await;
        let folder = &world.console.config.data_dir;
        let files = ["carillon.db", "carillon.db-wal"].map(|name| std::fs::read(folder.join(name)).unwrap_or_default());
        for text in [secret.as_str(), &codes[0], &codes[0].replace('-', "")] {
            let found = files.iter().any(|file| file.windows(text.len()).any(|part| part == text.as_bytes()));
            assert!(!found, "a secret is in the database");
        }
    });
}

#[test]
fn it_is_turned_on_by_its_owner_alone_and_by_a_code() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let answer = admin.submit("/account/second-factor", &[("password", "")]).await;
        assert_eq!((answer.status, answer.error("password")), (422, Some("Your password is missing.")));
        let answer = admin.submit("/account/second-factor", &[("password", "not the password")]).await;
        assert_eq!((answer.status, answer.error("password")), (422, Some("This is not your password.")));
        assert_eq!(admin.submit("/account/second-factor/confirm", &[("code", "000000")]).await.status, 422);

        let password = [("password", &*world.console.password)];
        let secret = shown_secret(&admin.submit("/account/second-factor", &password).await);
        let answer = admin.submit("/account/second-factor/confirm", &[("code", "12345")]).await;
        assert_eq!(answer.status, 422);
        assert!(answer.error("code").unwrap().starts_with("This is not the code"));
        assert!(!answer.body.contains("data-testid=\"secret\""), "it is shown once");
        world.console.admin().await;

        let code = world.code(&secret);
        assert_eq!(admin.submit("/account/second-factor/confirm", &[("code", &code)]).await.status, 200);
        let visitor = world.console.visitor();
        let handle = world.half_signed_in(&visitor).await;
        assert_eq!(world.send_code(&visitor, &handle, &code).await.status, 401, "setting it up has used the code");
        let answer = admin.submit("/account/second-factor", &password).await;
        assert!(answer.error("code").is_some() || answer.body.contains("second-factor-remove"));
        world.next_step();
        assert_eq!(world.send_code(&visitor, &handle, &world.code(&secret)).await.status, 303, "the secret has stayed");
    });
}

// covers: S4
#[test]
fn guessing_codes_is_slowed_down_also_by_who_has_the_password() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let (secret, _) = world.set_up(&admin).await;
        let visitor = world.console.visitor();
        for _ in 0..5 {
            // The right password each time does not set the count back.
            let handle = world.half_signed_in(&visitor).await;
            assert_eq!(world.send_code(&visitor, &handle, "000000").await.status, 401);
        }
        let answer = visitor.sign_in(FIRST_ADMIN, &world.console.password).await;
        if answer.status == 200 {
            let refused = world.send_code(&visitor, &answer.hidden("handle"), &world.code(&secret)).await;
            assert_eq!(refused.status, 429);
            assert!(refused.body.contains("Too many failed attempts. Try again in 10 s."));
        } else {
            assert_eq!(answer.status, 429, "its address has to wait");
        }
    });
}

#[test]
fn a_half_sign_in_belongs_to_its_browser_for_five_minutes() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let (secret, _) = world.set_up(&admin).await;
        let (visitor, other) = (world.console.visitor(), world.console.visitor());
        let handle = world.half_signed_in(&visitor).await;
        world.half_signed_in(&other).await;
        for stranger in [&other, &world.console.visitor()] {
            let answer = world.send_code(stranger, &handle, &world.code(&secret)).await;
            assert_eq!(answer.status, 401);
            assert!(answer.body.contains("The sign-in has expired."));
        }
        world.console.clock.advance(Duration::from_secs(301));
        let answer = world.send_code(&visitor, &handle, &world.code(&secret)).await;
        assert_eq!(answer.status, 401);
        assert!(answer.body.contains("The sign-in has expired."));
    });
}

#[test]
fn a_recovery_code_signs_in_once() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let (_, codes) = world.set_up(&admin).await;
        let visitor = world.console.visitor();
        let handle = world.half_signed_in(&visitor).await;
        let typed = codes[3].to_lowercase().replace('-', " ");
        assert_eq!(world.send_code(&visitor, &handle, &typed).await.status, 303);
        assert!(visitor.get("/").await.body.contains("You have used a recovery code; 9 are left."));
        let other = world.console.visitor();
        let handle = world.half_signed_in(&other).await;
        assert_eq!(world.send_code(&other, &handle, &codes[3]).await.status, 401);
        assert_eq!(world.send_code(&other, &handle, &codes[4]).await.status, 303);
    });
}

#[test]
fn its_owner_removes_it_with_a_code_and_an_administrator_without() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let (secret, _) = world.set_up(&admin).await;
        let answer = admin.submit("/account/second-factor/remove", &[("code", "000000")]).await;
        assert_eq!((answer.status, answer.error("code")), (422, Some(WRONG)));
        let code = world.code(&secret);
        assert_eq!(admin.submit("/account/second-factor/remove", &[("code", &code)]).await.location(), "/account");
        world.console.admin().await;

        world.next_step();
        world.set_up(&admin).await;
        let id = world.console.store.people().account_by_name(FIRST_ADMIN).await.unwrap().unwrap().id;
        let own = format!("/users/{id}/second-factor/remove");
        admin.submit(&own, &[]).await;
        assert!(admin.get("/account").await.body.contains("second-factor-remove"), "one's own stays");

        let (store, now, by) = (&world.console.store, world.console.clock.now(), Actor::unlimited("test", ""));
        let other = random_secret();
        people::add(store, "grace", &other, &Grants::for_all(Role::Admin), now, &by).await.unwrap();
        let grace = world.console.visitor();
        assert_eq!(grace.sign_in("grace", &other).await.status, 303);
        assert!(grace.get(&format!("/users/{id}")).await.body.contains("Remove the second factor"));
        assert_eq!(grace.submit(&own, &[]).await.status, 303);
        world.console.admin().await;
        assert_eq!(grace.submit(&own, &[]).await.status, 404);
    });
}

#[test]
fn a_link_for_a_new_password_is_no_way_around() {
    run(async {
        let world = World::start().await;
        let admin = world.console.admin().await;
        let (secret, _) = world.set_up(&admin).await;
        let (store, now) = (&world.console.store, world.console.clock.now());
        let id = store.people().account_by_name(FIRST_ADMIN).await.unwrap().unwrap().id;
        let link = people::reset_link(store, id, now, &Actor::unlimited("test", "")).await.unwrap();
        let visitor = world.console.visitor();
        let new = random_secret();
        let fields = [("secret", &*link.secret), ("password", &*new), ("repeated", &*new)];
        let answer = visitor.post("/reset", Some(&world.console.url), &fields).await;
        assert!(answer.body.contains("data-testid=\"code-form\""), "{}", answer.body);
        assert!(!visitor.cookies.lock().unwrap().contains_key("carillon_session"));
        let answer = world.send_code(&visitor, &answer.hidden("handle"), &world.code(&secret)).await;
        assert_eq!(answer.status, 303);
    });
}

#[test]
fn without_a_key_it_cannot_be_set_up_and_the_page_names_the_setting() {
    run(async {
        let world = World::with(|config| config.secret_keys = SecretKeys::default()).await;
        let admin = world.console.admin().await;
        assert!(admin.get("/account").await.body.contains("<code>--secret-key-file</code>"));
        let answer = admin.submit("/account/second-factor", &[("password", &world.console.password)]).await;
        assert_eq!(answer.status, 422);
    });
}

#[test]
fn administrators_go_no_further_without_it_where_the_setting_asks_for_it() {
    run(async {
        let world = World::with(|config| config.admin_second_factor = true).await;
        let admin = world.console.admin().await;
        for path in ["/", "/jobs", "/users"] {
            assert_eq!(admin.get(path).await.location(), "/account", "{path}");
        }
        assert!(admin.get("/account").await.body.contains("Administrators need a second factor here."));
        let fields = [("name", "x"), ("role", "admin"), ("apps", "all"), ("days", "1")];
        assert_eq!(admin.submit("/account/tokens", &fields).await.status, 403, "a token would be a way around");
        world.set_up(&admin).await;
        assert_eq!(admin.get("/users").await.status, 200);

        let (store, now, by) = (&world.console.store, world.console.clock.now(), Actor::unlimited("test", ""));
        let password = random_secret();
        people::add(store, "grace", &password, &Grants::for_all(Role::Editor), now, &by).await.unwrap();
        let grace = world.console.visitor();
        grace.sign_in("grace", &password).await;
        assert_eq!(grace.get("/jobs").await.status, 200, "an editor needs none");
    });
}
