//! What the program refuses to start with: the exit code, and a message that says what would be right.

use std::path::Path;
use std::process::Command;

use crate::program::{carillon, ended, settings};

/// Setting, value, and what is said of it.
const WRONG: [(&str, &str, &str); 16] = [
    ("listen", "localhost", "`localhost` is no IP address with a port; write 127.0.0.1:8080"),
    ("listen", "0.0.0.0:0", "accept that with --insecure-http (CARILLON_INSECURE_HTTP=true)"),
    ("data-dir", "", "it is empty; write the path of a folder"),
    ("database-url", "oracle://h/d", "sqlite:"),
    ("database-url", "postgres://", "postgres://user:password@"),
    ("redis-url", "http://h", "write redis://host:6379/"),
    ("shards", "0", "0 is out of range; write a number from 1 to 1024"),
    ("shards", "many", "`many` is no whole number"),
    ("access-token", "", "it is empty; write at least 16"),
    ("access-token", "short", "it has 5 characters; write at least 16"),
    ("admin-password", "nine char", "it has 9 characters; write 10 to 128"),
    ("api-token", "short", "it has 5 characters; write at least 16"),
    ("log-format", "xml", "write text or json"),
    ("look-ahead", "5", "`5` is no time; write a whole number and its unit"),
    ("lease-ttl", "1s", "1s is out of range; write a time from 3s to 1m"),
    ("in-flight", "0", "0 is out of range; write a number from 1 to 1000"),
];

#[test]
fn a_wrong_setting_ends_with_2_and_its_flag_and_variable_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (setting, value, said) in WRONG {
        let variable = format!("CARILLON_{}", setting.replace('-', "_").to_uppercase());
        let mut by_flag = serve(&folder.path().join("data"));
        by_flag.arg(format!("--{setting}={value}"));
        let mut by_variable = serve(&folder.path().join("data"));
        by_variable.env(&variable, value);
        for command in [by_flag, by_variable] {
            let (code, _, complaint) = ended(command);
            assert_eq!(code, Some(2), "{setting}={value}: {complaint}");
            let named = format!("--{setting} ({variable})");
            assert!(complaint.contains(&named) && complaint.contains(said), "{setting}={value}: {complaint}");
        }
        assert!(!folder.path().join("data").exists(), "nothing is written when a setting is wrong");
    }
}

fn serve(folder: &Path) -> Command {
    let mut command = carillon(&["serve"]);
    command.env("CARILLON_DATA_DIR", folder).env("CARILLON_LISTEN", "127.0.0.1:0");
    command
}

// covers: A5
#[test]
fn a_database_that_is_not_there_is_no_wrong_setting_and_its_password_stays_secret() {
    let folder = tempfile::tempdir().unwrap();
    let setup = settings(folder.path());
    let secret = &setup.api_token;
    let mut command = setup.command();
    command.arg(format!("--database-url=postgres://u:{secret}@127.0.0.1:1/d"));
    let (code, _, complaint) = ended(command);
    assert_eq!(code, Some(1), "{complaint}");
    assert!(complaint.contains("connection refused by 127.0.0.1:1"), "{complaint}");
    assert!(!complaint.contains(secret.as_str()), "{complaint}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let mut command = serve(folder.path());
    command.arg(format!("--listen={address}"));
    let (code, _, complaint) = ended(command);
    assert_eq!(code, Some(1), "{complaint}");
    let said = format!("cannot listen on {address} (--listen, CARILLON_LISTEN)");
    assert!(complaint.contains(&said), "{complaint}");
}
