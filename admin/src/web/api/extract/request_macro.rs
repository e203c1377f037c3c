//! Bodies that are objects.

/// Declares a body: its members, and what it is, for errors. Members that it does not have are refused.
macro_rules! request {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident: $what:literal $(, MAY_BE_EMPTY = $empty:literal)? {
            $($members:tt)*
        }
    ) => {
        $(#[$meta])*
        #[derive(serde::Deserialize, utoipa::ToSchema)]
        #[serde(deny_unknown_fields)]
        $vis struct $name { $($members)* }

        impl $crate::web::api::extract::ObjectBody for $name {
            const WHAT: &'static str = $what;
            $( const MAY_BE_EMPTY: bool = $empty; )?
        }
    };
}

pub(crate) use request;
