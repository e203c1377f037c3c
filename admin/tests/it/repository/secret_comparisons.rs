//! What is secret is compared in constant time: by `subtle`, or by a database that looks for a digest. No `==` of the product compares a secret,
//! as far as names say what a value is; each other comparison of a value with such a name is listed here with its reason.

use std::collections::BTreeSet;

use super::sources::{Files, files};

const SECRET_WORDS: [&str; 12] =
    ["cookie", "csrf", "digest", "hash", "hmac", "mac", "nonce", "password", "seal", "secret", "signature", "token"];

/// Files that compare secrets, each in constant time.
const IN_CONSTANT_TIME: [&str; 9] = [
    "admin/accounts/src/device.rs",
    "admin/accounts/src/openid/begun.rs",
    "admin/accounts/src/second_factor/totp.rs",
    "admin/accounts/src/setup.rs",
    "admin/engine/src/executor/http/callback.rs",
    "admin/engine/src/executor/tokens.rs",
    "admin/src/web/guard/bearer.rs",
    "admin/src/web/guard/csrf.rs",
    "executor-sdk/src/server/request_check.rs",
];

/// File, part of the line, and why it compares no secret with what a stranger has sent.
const OTHERS: [(&str, &str, &str); 22] = [
    ("admin/alerts/src/channel/settings.rs", "secrets.password.is_some() ==", "whether there is one"),
    ("admin/declared/src/announced.rs", "known != digest", "the digest of a declaration"),
    ("admin/declared/src/view.rs", "first.digest == declaration.digest", "the digest of a declaration"),
    ("admin/engine/src/executor/secrets.rs", "*line != secret", "a line of a secret with the whole of it"),
    ("admin/engine/src/executor/tokens.rs", "token.app == executor.app", "the names of apps"),
    ("admin/engine/src/executor/tokens.rs", "global.secret.key.id() == id", "the public id of a key"),
    ("admin/import/src/xxl_job/export.rs", "*stored == stored_digest(", "the digest of a job"),
    ("admin/import/src/xxl_job/plan.rs", "origin.digest != job.digest", "the digest of a job"),
    ("admin/import/src/xxl_job/plan.rs", "now == Self::digest_as_stored(", "the digest of a job"),
    ("admin/src/cli/worker.rs", "token == Ok(None)", "whether there is one"),
    (
        "admin/src/config/rules.rs",
        "config.api_token.as_ref() == Some(&config.access_token)",
        "two settings of this node",
    ),
    ("admin/src/web/api/alerts/channels.rs", "name != \"secrets\"", "the name of a member"),
    ("admin/src/web/console/account/kept_form.rs", "name != csrf::FIELD", "the name of a field"),
    ("admin/src/web/console/account/password.rs", "fields.get(\"revoke_tokens\") == \"yes\"", "a box that is ticked"),
    ("admin/src/web/console/account/reset.rs", "password != fields.get(\"repeated\")", "two fields of one form"),
    ("admin/src/web/console/account/setup.rs", "password != fields.get(\"repeated\")", "two fields of one form"),
    ("admin/store/src/app/executors.rs", "old.token_id != executor.token_id", "the number of a token"),
    ("admin/store/src/people/one_time.rs", "values![SETUP, format!(", "a number of rows"),
    (
        "admin/store/src/run/trigger/delayed/insert.rs",
        "digest.as_deref() != Some(key.digest)",
        "the digest of a trigger",
    ),
    ("executor-sdk/protocol/src/signature.rs", "key_id.len() != ID_DIGITS", "lengths"),
    (
        "executor-sdk/protocol/src/signature.rs",
        "body_digest(body) == self.body",
        "the digest of a body, which its sender knows",
    ),
    ("executor-sdk/src/server/request_check.rs", "key.id() == signature.key_id", "the public id of a key"),
];

/// Product code without its tests, by path.
fn sources() -> Files {
    let mut found = files("");
    found.retain(|path, _| path.ends_with(".rs") && path.contains("src/") && !path.ends_with("tests.rs"));
    found.retain(|path, _| !["tests/", "benches/", "testkit/", "examples/"].iter().any(|part| path.contains(part)));
    for text in found.values_mut() {
        let end = text.find("#[cfg(test)]").unwrap_or(text.len());
        text.truncate(end);
    }
    found
}

/// Whether a name has one of the words: `api_tokens`, `mac`; not `machine`.
fn is_secret(name: &str) -> bool {
    name.split('_').any(|word| SECRET_WORDS.contains(&word) || SECRET_WORDS.contains(&word.trim_end_matches('s')))
}

/// Whether a line compares a value with such a name by `==` or `!=`.
fn compares_a_secret(line: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.:()&*[]?\"'".contains(c);
    let mut operators = [" == ", " != "].into_iter().flat_map(|operator| line.match_indices(operator));
    operators.any(|(at, operator)| {
        let before = line[..at].rsplit(|c| !is_part(c)).next().unwrap_or_default();
        let after = line[at + operator.len()..].split(|c| !is_part(c)).next().unwrap_or_default();
        let mut names =
            [before, after].into_iter().flat_map(|side| side.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()));
        names.any(is_secret)
    })
}

// covers: S18
#[test]
fn no_secret_is_compared_by_an_operator() {
    let (mut wrong, mut used) = (vec![], BTreeSet::new());
    for (path, text) in sources() {
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//") && compares_a_secret(line)) {
            match OTHERS.iter().find(|(file, part, _)| *file == path && line.contains(part)) {
                Some(other) => drop(used.insert(other)),
                None => wrong.push(format!("{path}: {}", line.trim())),
            }
        }
    }
    wrong
        .extend(OTHERS.iter().filter(|it| !used.contains(it)).map(|(path, part, _)| format!("{path} has no `{part}`")));
    assert!(wrong.is_empty(), "compare in constant time, or say here what is compared:\n{}", wrong.join("\n"));
}

// covers: S18
#[test]
fn the_files_that_compare_secrets_do_so_in_constant_time() {
    let sources = sources();
    let found: Vec<&str> =
        sources.iter().filter(|(_, text)| text.contains("ct_eq(")).map(|(path, _)| path.as_str()).collect();
    assert_eq!(found, IN_CONSTANT_TIME);
}

#[test]
fn comparisons_of_secrets_are_found() {
    for line in ["if sent == stored.token {", "let is_one = self.mac != mac(body);", "(api_tokens[0] == given).then(f)"]
    {
        assert!(compares_a_secret(line), "{line}");
    }
    for line in ["if machine == other {", "token.is_empty() && name == \"x\"", "let token = one == two;"] {
        assert!(!compares_a_secret(line), "{line}");
    }
}
