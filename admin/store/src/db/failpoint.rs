//! Lines at which the fault suite ends this process, and flags that it sets. Without the feature `failpoints` nothing of it is there.
//!
//! A file in the folder `CARILLON_TEST_FAILPOINTS` arms a line or sets a flag; the process that removes the file of a line hits it,
//! so that each is hit once.

/// Ends the process here, at once, if this line is armed.
#[cfg(feature = "failpoints")]
pub fn hit(name: &str) {
    if folder().is_some_and(|folder| std::fs::remove_file(folder.join(name)).is_ok()) {
        eprintln!("failpoint {name}");
        std::process::abort();
    }
}

/// Nothing.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub fn hit(_name: &str) {}

/// [`hit`], once a request that has begun just now must have been written and its answer cannot have been stored.
#[cfg(feature = "failpoints")]
pub fn hit_when_written(name: &'static str) {
    if flag(name) {
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(3));
            hit(name);
        });
    }
}

/// Nothing.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub fn hit_when_written(_name: &'static str) {}

/// Whether a flag is set.
#[cfg(feature = "failpoints")]
pub fn flag(name: &str) -> bool {
    folder().is_some_and(|folder| folder.join(name).exists())
}

/// None is.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub const fn flag(_name: &str) -> bool {
    false
}

#[cfg(feature = "failpoints")]
fn folder() -> Option<&'static std::path::Path> {
    static FOLDER: std::sync::OnceLock<Option<std::path::PathBuf>> = std::sync::OnceLock::new();
    let read = || std::env::var_os("CARILLON_TEST_FAILPOINTS").map(Into::into);
    FOLDER.get_or_init(read).as_deref()
}
