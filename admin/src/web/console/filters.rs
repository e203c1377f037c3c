//! The filters of lists: as they stand in the address, how they are read, and what is wrong with them.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_scheduler::{Millis, Zone};
use carillon_store::Page;

use crate::web::forms::moment;
use crate::web::page::{PageContext, PageError, render};
use crate::web::state::State;

/// Declares the parameters of a list: its filters, which are texts as they were typed, and others.
macro_rules! list_query {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            filters: [ $( $(#[$filter_meta:meta])* $filter:ident, )+ ],
            $( $(#[$other_meta:meta])* $other:ident: $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $( $(#[$filter_meta])* pub $filter: String, )+
            $( $(#[$other_meta])* pub $other: $type, )*
        }

        impl $name {
            /// The filters, which are kept when something is done with all rows that match.
            pub fn filters(&self) -> Vec<(&'static str, &str)> {
                vec![$( (stringify!($filter), self.$filter.as_str()), )+]
            }

            pub fn is_filtered(&self) -> bool {
                self.filters().iter().any(|(_, value)| !value.is_empty())
            }

            /// The address of a page that has these filters, with further parameters.
            fn address_of(&self, path: &str, more: &[(&'static str, &str)], after: Option<i64>) -> String {
                $crate::web::page::list_address(path, &[&self.filters(), more].concat(), after)
            }
        }

        /// From the hidden fields of a form.
        impl From<&$crate::web::forms::Form> for $name {
            fn from(form: &$crate::web::forms::Form) -> Self {
                Self { $( $filter: form.value(stringify!($filter)).to_owned(), )+ ..Self::default() }
            }
        }
    };
}

pub(crate) use list_query;

/// Errors of filters: the key of the field's label, and the reason.
pub type WrongFilters = Vec<(&'static str, String)>;

/// A text without blanks around it; None: it is empty.
pub fn given(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The value of a filter that is given. `what` describes a text that cannot be read, in its error.
pub fn read<T>(
    wrong: &mut WrongFilters,
    label: &'static str,
    text: &str,
    what: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let text = given(text)?;
    let found = parse(&text);
    if found.is_none() {
        wrong.push((label, format!("“{text:.64}” is {what}")));
    }
    found
}

/// The filters `from` and `to`, in the viewer's zone.
pub fn read_range(wrong: &mut WrongFilters, range: [&str; 2], zone: Zone) -> [Option<Millis>; 2] {
    let what = format!("no time that exists in {}; write it as 2026-01-31T18:30", zone.name());
    let mut time = |label, text| read(wrong, label, text, &what, |text| moment::parse(text, zone));
    [time("from", range[0]), time("to", range[1])]
}

/// Adds an error where there is no app of this name that the viewer sees.
pub async fn check_app(
    state: &State,
    context: &PageContext,
    app: Option<&str>,
    wrong: &mut WrongFilters,
) -> Result<(), PageError> {
    let Some(app) = app else { return Ok(()) };
    match state.engine.apps().named(app, &context.actor).await {
        Ok(_) => Ok(()),
        Err(Error::Invalid(_)) => {
            wrong.push(("app", format!("there is no app “{app:.64}”")));
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// The rows of a list and the next page's cursor. Nothing is read with a wrong filter.
pub async fn read_rows<T, K>(
    wrong: &WrongFilters,
    rows: impl Future<Output = carillon_store::Result<Page<T, K>>>,
) -> Result<(Vec<T>, Option<K>), PageError> {
    if !wrong.is_empty() {
        return Ok((vec![], None));
    }
    let page = rows.await?;
    Ok((page.items, page.next))
}

/// The page of a list. One with a wrong filter shows no rows.
pub fn render_list(page: &impl Template, has_wrong: bool) -> HttpResponse {
    render(page, if has_wrong { StatusCode::BAD_REQUEST } else { StatusCode::OK })
}
