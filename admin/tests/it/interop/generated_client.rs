//! The OpenAPI document of a real node before a validator, and a client that a published generator makes of it.

use std::path::Path;
use std::process::Command;

use crate::program::{ended, settings};
use crate::services::setting;

// covers: 001-45
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_is_valid_and_a_client_generated_from_it_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = settings(&folder.path().join("data"));
    let node = setup.start().await;
    let generated = folder.path().join("generated");
    std::fs::create_dir(&generated).unwrap();
    let mut command = Command::new(setting("CARILLON_TEST_OPENAPI_PYTHON"));
    command
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/interop/openapi/check.py"))
        .arg(format!("{}/api/v1", node.url()))
        .arg(&setup.api_token)
        .arg(&generated);
    let (code, output, errors) = tokio::task::spawn_blocking(move || ended(command)).await.unwrap();
    assert_eq!(code, Some(0), "{output}{errors}");
    assert!(output.starts_with("valid; ") && output.ends_with(" called\n"), "{output}");
}
