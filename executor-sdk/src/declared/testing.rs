//! The number of functions that a test expects.

use super::attribute::DeclaredFunction;

/// Checks how many functions with the attribute the program has.
///
/// # Panics
/// It has another number.
#[doc(hidden)]
pub fn count(expected: usize) {
    let declarations = inventory::iter::<DeclaredFunction>.into_iter().map(|function| (function.declaration)());
    let mut found: Vec<String> = declarations.map(|it| format!("{} ({})", it.job.key, it.place())).collect();
    found.sort_unstable();
    assert!(
        found.len() == expected,
        "{} jobs are declared, not {expected}: {}. Jobs of a library crate that the program names nowhere are missing: add `use the_crate as _;`",
        found.len(),
        found.join(", ")
    );
}
