//! A form that was filled in when its session ended. The sign-in page carries its fields and returns them to the form, which
//! shows them again: nothing is lost, and nothing is saved without another press.

use askama::Template;

use crate::web::forms::{Fields, OWN_PASSWORD};
use crate::web::guard::csrf;
use crate::web::limits::SMALL_FORM;
use crate::web::page::{PageContext, local_address};

/// Bytes of a kept form within the sign-in form, where it is encoded once more. That form is as small as any that may be sent without
/// a session, and holds a name, a password and an address as well.
const MOST: usize = SMALL_FORM / 4 * 3;

/// A form on its way through the sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptForm {
    /// Where it goes.
    pub to: String,
    /// Its fields, encoded as they were sent.
    pub fields: String,
}

impl KeptForm {
    /// None: the path does not take text that a person typed, or it is too long to be carried.
    pub fn new(path: &str, fields: &Fields) -> Option<Self> {
        let kept = |(name, _): &&(String, String)| name != csrf::FIELD && name != OWN_PASSWORD;
        let form = holds_text(path).then(|| Self {
            to: path.to_owned(),
            fields: url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(fields.0.iter().filter(kept))
                .finish(),
        });
        form.filter(|form| !form.fields.is_empty() && form.fits())
    }

    fn fits(&self) -> bool {
        let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).map(str::len).sum::<usize>();
        encoded(&self.to) + encoded(&self.fields) <= MOST
    }

    /// As the sign-in form sends it on.
    pub fn from_fields(fields: &Fields) -> Option<Self> {
        let to = fields.get("kept_for");
        let form = Self { to: to.to_owned(), fields: fields.get("kept").to_owned() };
        Some(form).filter(|form| holds_text(to) && local_address(to) == to && form.fits())
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
        | ["runs", id, "resolve" | "move"]
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

    // covers: V1
    #[test]
    fn a_form_that_would_not_come_back_is_not_kept() {
        let form = |value: String| KeptForm::new("/jobs", &Fields(vec![("params".to_owned(), value)]));
        assert!(form("x".repeat(12_000)).is_some());
        assert_eq!(form("x".repeat(13_000)), None);
        // Bytes that are no text: three characters each, which are three times as long when they are encoded, and again so.
        assert_eq!(form("\u{fffd}".repeat(16 << 10)), None);
        let kept = form("{\"a\": \"\u{4f60}\"}".repeat(100)).unwrap();
        let back = |fields: &str| {
            let fields = [("kept_for", kept.to.as_str()), ("kept", fields)];
            KeptForm::from_fields(&Fields(fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()))
        };
        assert_eq!(back(&kept.fields), Some(kept.clone()));
        assert_eq!(back(&"&".repeat(SMALL_FORM / 3)), None);
    }

    #[test]
    fn the_pressed_button_the_token_and_the_password_stay_behind() {
        let left = [("csrf", "x"), ("own_password", "x"), ("step", "save")];
        let fields = [("name", "a&b=ä"), ("weekdays", "MON"), ("weekdays", "TUE")].into_iter().chain(left);
        let fields: Vec<(String, String)> = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let kept = KeptForm::new("/jobs", &Fields(fields)).unwrap();
        let pairs = kept.pairs();
        let expected = [("name", "a&b=ä"), ("weekdays", "MON"), ("weekdays", "TUE")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs, expected);
    }
}
