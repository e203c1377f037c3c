//! The weight and labels of an executor as fields of a form.

use carillon_scheduler::Labels;
use carillon_scheduler::route::check_weight;

use crate::store::app::executors::Traits;
use crate::web::forms::form::Form;

/// What an operator sets; an empty field means the value that the executor registers with.
pub fn traits(form: &mut Form) -> Traits {
    Traits { weight: weight(form), labels: labels(form) }
}

fn weight(form: &mut Form) -> Option<i32> {
    if form.value("weight").trim().is_empty() {
        return None;
    }
    let number: i64 = form.number("weight", 1);
    match check_weight(number) {
        Ok(weight) => Some(weight.cast_signed()),
        Err(message) => {
            form.add_error("weight", message);
            None
        }
    }
}

fn labels(form: &mut Form) -> Option<String> {
    match form.value("labels").parse::<Labels>() {
        Ok(labels) => Some(labels.to_string()).filter(|text| !text.is_empty()),
        Err(error) => {
            form.add_error("labels", error.to_string());
            None
        }
    }
}
