//! The rows that a form names: by their ids, or all that match the filter of the list.

use carillon_engine::manage::Error;

use crate::web::forms::Form;
use crate::web::page::PageError;

/// The form under a list.
pub struct BulkBar {
    pub action: &'static str,
    /// The label of the box that selects all rows that match the filter.
    pub all: String,
    /// Words, and the keys of their labels.
    pub actions: Vec<(&'static str, &'static str)>,
}

/// The ids of the chosen rows.
pub fn ids_of(form: &Form) -> Vec<i64> {
    form.items("id").iter().filter_map(|id| id.parse().ok()).collect()
}

/// The selection as hidden fields of the next form. `filters`: those of the list.
pub fn hidden_fields(form: &Form, filters: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let filters = filters.iter().filter(|(_, value)| !value.is_empty());
    let mut fields: Vec<(&'static str, String)> = filters.map(|(name, value)| (*name, (*value).to_owned())).collect();
    match form.is("all", "yes") {
        true => fields.push(("all", "yes".to_owned())),
        false => fields.extend(ids_of(form).into_iter().map(|id| ("id", id.to_string()))),
    }
    fields
}

/// An error that the question page shows; others are pages of their own.
pub fn take_count_error(form: &mut Form, error: Error) -> Result<(), PageError> {
    match error {
        Error::Invalid(errors) => form.add_errors(errors),
        Error::Changed(text) => form.add_error("count", format!("{text}. Nothing was done; confirm the new number.")),
        error => return Err(error.into()),
    }
    Ok(())
}
