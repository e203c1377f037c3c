//! The app of the demo.

pub const APP: &str = "demo";

pub fn tags(tags: &[&str]) -> Vec<String> {
    tags.iter().map(|tag| (*tag).to_owned()).collect()
}
