//! A provider whose answers a test can bend.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use carillon_accounts::secret::random_secret;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::console::client::START;

pub const CLIENT: &str = "carillon";

pub struct Fake {
    pub issuer: String,
    pub secret: String,
    pub bent: Arc<Mutex<Bent>>,
}

/// What is answered.
pub struct Bent {
    issuer: String,
    secret: String,
    key: Key,
    /// The key in the published set; another one than `key` is a stranger's.
    published: Value,
    /// Times that the keys were asked for.
    pub keys_read: usize,
    /// Members of the ID token that replace the right ones; null removes.
    pub claims: Value,
    /// Members of the answer to the question for the person.
    pub user_info: Value,
    /// Members of the description that replace the right ones.
    pub description: Value,
    /// The parameter `iss` of the way back.
    pub returned_issuer: Option<String>,
    /// The signature is left out, with `none` as its algorithm.
    pub is_unsigned: bool,
    /// Answers nothing but an error.
    pub is_down: bool,
    /// Nonce and challenge by code; each code counts once.
    codes: HashMap<String, (String, String)>,
}

struct Key {
    id: String,
    pair: EcdsaKeyPair,
}

impl Key {
    fn new() -> Self {
        let (random, form) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(form, &random).unwrap();
        Self { id: random_secret(), pair: EcdsaKeyPair::from_pkcs8(form, document.as_ref(), &random).unwrap() }
    }

    fn public(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id, "x": x, "y": y})
    }
}

impl Bent {
    /// Another key signs from now on, and is published.
    pub fn rotate(&mut self) {
        self.key = Key::new();
        self.published = self.key.public();
    }

    /// Another key signs from now on under the name of the published one.
    pub fn forge(&mut self) {
        let id = self.key.id.clone();
        self.key = Key { id, ..Key::new() };
    }

    fn id_token(&self, nonce: &str, access_token: &str) -> String {
        let digest = Sha256::digest(access_token);
        let mut claims = json!({
            "iss": self.issuer, "sub": "subject-1", "aud": CLIENT, "nonce": nonce,
            "iat": START / 1000, "exp": START / 1000 + 300,
            "at_hash": URL_SAFE_NO_PAD.encode(&digest[..16]),
            "preferred_username": "ada", "groups": ["team-a"],
        });
        merge(&mut claims, &self.claims);
        let header = match self.is_unsigned {
            true => json!({"alg": "none"}),
            false => json!({"alg": "ES256", "kid": self.key.id}),
        };
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = match self.is_unsigned {
            true => vec![],
            false => self.key.pair.sign(&SystemRandom::new(), signed.as_bytes()).unwrap().as_ref().to_vec(),
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn merge(value: &mut Value, with: &Value) {
    for (name, member) in with.as_object().into_iter().flatten() {
        let members = value.as_object_mut().unwrap();
        match member {
            Value::Null => members.remove(name),
            member => members.insert(name.clone(), member.clone()),
        };
    }
}

type Shared = web::Data<Mutex<Bent>>;

impl Fake {
    pub async fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let (key, secret) = (Key::new(), random_secret());
        let bent = Arc::new(Mutex::new(Bent {
            issuer: issuer.clone(),
            secret: secret.clone(),
            published: key.public(),
            key,
            keys_read: 0,
            claims: json!({}),
            user_info: json!({}),
            description: json!({}),
            returned_issuer: Some(issuer.clone()),
            is_unsigned: false,
            is_down: false,
            codes: HashMap::new(),
        }));
        let shared = Shared::from(bent.clone());
        let server = HttpServer::new(move || {
            App::new()
                .app_data(shared.clone())
                .route("/.well-known/openid-configuration", web::get().to(describe))
                .route("/keys", web::get().to(keys))
                .route("/token", web::post().to(token))
                .route("/me", web::get().to(me))
        });
        let server = server.workers(1).disable_signals().listen(listener).unwrap();
        tokio::spawn(server.run());
        Self { issuer, secret, bent }
    }

    pub fn bend(&self, change: impl FnOnce(&mut Bent)) {
        change(&mut self.bent.lock().unwrap());
    }

    /// What the provider's own page does after its person has signed in there: the address to go back to.
    pub fn authorize(&self, address: &str) -> String {
        let url = url::Url::parse(address).unwrap();
        assert!(address.starts_with(&format!("{}/auth?", self.issuer)), "{address}");
        let pairs: HashMap<String, String> = url.query_pairs().into_owned().collect();
        assert_eq!((&*pairs["response_type"], &*pairs["client_id"]), ("code", CLIENT));
        assert_eq!(pairs["code_challenge_method"], "S256");
        assert!(pairs["scope"].split(' ').any(|scope| scope == "openid"), "{}", pairs["scope"]);
        let (code, mut bent) = (random_secret(), self.bent.lock().unwrap());
        bent.codes.insert(code.clone(), (pairs["nonce"].clone(), pairs["code_challenge"].clone()));
        let path = url::Url::parse(&pairs["redirect_uri"]).unwrap().path().to_owned();
        let issuer = bent.returned_issuer.as_ref().map_or(String::new(), |issuer| format!("&iss={issuer}"));
        format!("{path}?state={}&code={code}{issuer}", pairs["state"])
    }
}

async fn describe(bent: Shared) -> HttpResponse {
    let bent = bent.lock().unwrap();
    if bent.is_down {
        return HttpResponse::ServiceUnavailable().finish();
    }
    let issuer = &bent.issuer;
    let mut description = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/auth"),
        "token_endpoint": format!("{issuer}/token"),
        "userinfo_endpoint": format!("{issuer}/me"),
        "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256", "none"],
        "authorization_response_iss_parameter_supported": true,
    });
    merge(&mut description, &bent.description);
    HttpResponse::Ok().json(description)
}

async fn keys(bent: Shared) -> HttpResponse {
    let mut bent = bent.lock().unwrap();
    bent.keys_read += 1;
    HttpResponse::Ok().json(json!({"keys": [bent.published.clone()]}))
}

async fn token(bent: Shared, request: HttpRequest, form: web::Form<HashMap<String, String>>) -> HttpResponse {
    let mut bent = bent.lock().unwrap();
    let basic = format!("Basic {}", STANDARD.encode(format!("{CLIENT}:{}", bent.secret)));
    assert_eq!(request.headers().get("authorization").unwrap().to_str().unwrap(), basic);
    let found = bent.codes.remove(&form["code"]);
    let fits = |challenge: &str| URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"])) == challenge;
    let Some((nonce, _)) = found.filter(|(_, challenge)| fits(challenge)) else {
        return HttpResponse::BadRequest().json(json!({"error": "invalid_grant"}));
    };
    let access_token = random_secret();
    let id_token = bent.id_token(&nonce, &access_token);
    HttpResponse::Ok().json(json!({"access_token": access_token, "token_type": "Bearer", "id_token": id_token}))
}

async fn me(bent: Shared) -> HttpResponse {
    let bent = bent.lock().unwrap();
    let mut person = json!({"sub": "subject-1"});
    merge(&mut person, &bent.user_info);
    HttpResponse::Ok().json(person)
}
