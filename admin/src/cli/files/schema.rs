//! `carillon schema`: the JSON schema of job files, for editors and checks.

use carillon_files::schema::schema;

pub fn run() -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(&schema(&crate::web::openapi_document()))?);
    Ok(())
}
