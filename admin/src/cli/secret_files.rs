//! Secrets that are read from files, so that they are neither in the list of processes nor in the environment.

use std::fs;

use crate::config::Problem;
use clap::Args;

#[derive(Args, Clone)]
#[command(next_help_heading = "Secrets")]
pub struct SecretFiles {
    /// File with what --access-token would hold
    #[arg(long, env = "CARILLON_ACCESS_TOKEN_FILE", value_name = "FILE")]
    pub access_token_file: Option<String>,

    /// File with what --admin-password would hold
    #[arg(long, env = "CARILLON_ADMIN_PASSWORD_FILE", value_name = "FILE")]
    pub admin_password_file: Option<String>,

    /// File with what --api-token would hold
    #[arg(long, env = "CARILLON_API_TOKEN_FILE", value_name = "FILE")]
    pub api_token_file: Option<String>,

    /// File with what --redis-url would hold
    #[arg(long, env = "CARILLON_REDIS_URL_FILE", value_name = "FILE")]
    pub redis_url_file: Option<String>,
}

/// The value itself, or the first line of the file.
///
/// # Errors
/// Both are given; the file cannot be read, or has another number of lines than one.
pub fn given_or_in_file(
    setting: &'static str,
    given: Option<&str>,
    file: Option<&str>,
) -> Result<Option<String>, Problem> {
    let Some(file) = file else {
        return Ok(given.map(str::to_owned));
    };
    if given.is_some() {
        let value = setting.trim_end_matches("-file");
        return Err(Problem::new(setting, format!("there is a --{value} as well; drop one of them")));
    }
    let right = "name a file with the value in one line";
    let text = fs::read_to_string(file)
        .map_err(|error| Problem::new(setting, format!("cannot read {file}: {error}; {right}")))?;
    match text.lines().collect::<Vec<_>>()[..] {
        [line] if !line.is_empty() => Ok(Some(line.to_owned())),
        [] | [""] => Err(Problem::new(setting, format!("{file} is empty; {right}"))),
        ref lines => Err(Problem::new(setting, format!("{file} has {} lines; {right}", lines.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: V12.5
    #[test]
    fn a_value_is_given_or_in_a_file_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let file = path.to_str().unwrap();
        let read = |given, file| given_or_in_file("api-token-file", given, file).map_err(|error| error.to_string());
        assert_eq!(read(None, None), Ok(None));
        assert_eq!(read(Some("a"), None), Ok(Some("a".into())));
        let said = read(None, Some(file)).unwrap_err();
        assert!(said.starts_with("--api-token-file (CARILLON_API_TOKEN_FILE): cannot read "), "{said}");
        fs::write(&path, " two words \n").unwrap();
        assert_eq!(read(None, Some(file)), Ok(Some(" two words ".into())), "as it is, without the end of the line");
        let said = read(Some("a"), Some(file)).unwrap_err();
        assert!(said.contains("there is a --api-token as well; drop one of them"), "{said}");
        for (text, lines) in [("", "is empty"), ("\n", "is empty"), ("geheim\ntoo\n", "has 2 lines")] {
            fs::write(&path, text).unwrap();
            let said = read(None, Some(file)).unwrap_err();
            assert!(said.contains(lines) && !said.contains("geheim"), "{said}");
        }
    }
}
