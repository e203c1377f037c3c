//! Which paths are those of xxl-job's console.

use crate::web::executor_api::paths::PREFIXES;

/// Below `/`.
const ROOMS: [&str; 8] = ["jobinfo", "joblog", "jobgroup", "jobcode", "user", "auth", "chartInfo", "toLogin"];
/// Paths that the console has too.
const SHARED: [&str; 2] = ["/login", "/logout"];
/// Below `/api`: the OpenAPI.
pub const OPEN_API: [&str; 6] = ["addJob", "updateJob", "removeJob", "startJob", "stopJob", "triggerJob"];

/// The path without xxl-job's context path, from one without doubled slashes. None: it is none of these.
pub fn plain_path(path: &str) -> Option<&str> {
    let (is_below, below) = match path.strip_prefix(PREFIXES[1]) {
        Some(below) => (true, below),
        None => (false, path),
    };
    let name = below.strip_prefix('/')?;
    let room = name.split('/').next().unwrap_or_default();
    let is_own = ROOMS.contains(&room) || name.strip_prefix("api/").is_some_and(|name| OPEN_API.contains(&name));
    (is_own || is_below && SHARED.contains(&below)).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_path_is_taken_off_paths_of_that_console_alone() {
        for (path, plain) in [
            ("/xxl-job-admin/jobinfo/pageList", Some("/jobinfo/pageList")),
            ("/jobinfo/pageList", Some("/jobinfo/pageList")),
            ("/xxl-job-admin/login", Some("/login")),
            ("/login", None),
            ("/xxl-job-admin/api/addJob", Some("/api/addJob")),
            ("/api/v1/jobs", None),
            ("/xxl-job-admin/api/registry", None),
            ("/xxl-job-admin/jobs", None),
            ("/xxl-job-admin", None),
        ] {
            assert_eq!(plain_path(path), plain, "{path}");
        }
    }
}
