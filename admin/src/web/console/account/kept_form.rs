//! A form that was filled in when its session ended. The sign-in page carries its fields and returns them to the form, which
//! shows them again: nothing is lost, and nothing is saved without another press.

use askama::Template;

use crate::web::forms::Fields;
use crate::web::guard::csrf;
use crate::web::page::{PageContext, local_address};

/// A form on its way through the sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptForm {
    /// Where it goes.
    pub to: String,
    /// Its fields, encoded as they were sent.
    pub fields: String,
}

impl KeptForm {
    /// None: the path does not take text that a person typed.
    pub fn new(path: &str, fields: &Fields) -> Option<Self> {
        let kept = |(name, _): &&(String, String)| name != csrf::FIELD;
        holds_text(path).then(|| Self {
            to: path.to_owned(),
            fields: url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(fields.0.iter().filter(kept))
                .finish(),
        })
    }

    /// As the sign-in form sends it on.
    pub fn from_fields(fields: &Fields) -> Option<Self> {
        let to = fields.get("kept_for");
        (holds_text(to) && local_address(to) == to)
            .then(|| Self { to: to.to_owned(), fields: fields.get("kept").to_owned() })
    }

    /// The fields; the button that was pressed is left out, so that the form is shown and nothing is done.
    fn pairs(&self) -> Vec<(String, String)> {
        let pairs = url::form_urlencoded::parse(self.fields.as_bytes()).into_owned();
        pairs.filter(|(name, _)| name != csrf::FIELD && name != "step").collect()
    }
}

/// Whether forms with typed text are sent to this path. Their handlers take `step=preview` to show the form again.
fn holds_text(path: &str) -> bool {
    let parts: Vec<&str> = path.strip_prefix('/').unwrap_or_default().split('/').collect();
    let is_number = |id: &str| id.parse::<i64>().is_ok();
    match parts.as_slice() {
        ["jobs" | "apps" | "calendars"] | ["retention", "edit"] | ["calendars", _, "edit"] => true,
        ["jobs", id, "edit" | "run" | "backfill" | "retention"]
        | ["runs", id, "resolve"]
        | ["apps", id, "executor" | "retention"] => is_number(id),
        _ => false,
    }
}

/// The page from which a request without text can be repeated.
pub fn page_of(path: &str, fields: &Fields) -> String {
    let asks = path.ends_with("/delete") || path.ends_with("/kill");
    match fields.get("next") {
        "" if asks => path.to_owned(),
        "" => path.rsplit_once('/').map_or("", |(section, _)| section).to_owned(),
        next => local_address(next).to_owned(),
    }
}

/// Returns the form; the script presses the button.
#[derive(Template)]
#[template(path = "account/kept_form.html")]
pub struct KeptFormPage {
    pub context: PageContext,
    kept: KeptForm,
    pairs: Vec<(String, String)>,
}

impl KeptFormPage {
    /// `csrf`: of the session that has just begun.
    pub fn new(context: PageContext, kept: KeptForm, csrf: &str) -> Self {
        let context = PageContext { csrf: csrf::masked(csrf), ..context };
        Self { pairs: kept.pairs(), context, kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_with_text_are_kept_and_no_others() {
        for path in ["/jobs", "/jobs/7/edit", "/jobs/7/run", "/runs/7/resolve", "/apps"] {
            assert!(holds_text(path), "{path}");
        }
        for path in ["/calendars", "/calendars/a%20b/edit", "/jobs/7/backfill", "/apps/7/retention", "/retention/edit"]
        {
            assert!(holds_text(path), "{path}");
        }
        let others = ["", "/", "/jobs/7", "/jobs/7/delete", "/jobs/x/edit", "//jobs", "/jobs/7/edit/8"];
        for path in others.into_iter().chain(["/runs", "https://evil.example/jobs", "/logout"]) {
            assert!(!holds_text(path), "{path}");
        }
    }

    #[test]
    fn the_pressed_button_and_the_token_stay_behind() {
        let fields = [("csrf", "x"), ("name", "a&b=ä"), ("step", "save"), ("weekdays", "MON"), ("weekdays", "TUE")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let kept = KeptForm::new("/jobs", &Fields(fields.to_vec())).unwrap();
        let pairs = kept.pairs();
        let expected = [("name", "a&b=ä"), ("weekdays", "MON"), ("weekdays", "TUE")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs, expected);
    }
}
