//! Views: what an answer shows of a row. Each member is named, so that a new column is not published by accident.

use carillon_alerts::channel::Settings;
use carillon_scheduler::workflow::WorkflowDraft;
use carillon_scheduler::{AlertKind, Cause, JobDraft, RouteStrategy, RunState, ScriptDraft};
use chrono::NaiveDate;

use super::time::Time;

/// A value as an answer shows it.
pub trait IntoView<V> {
    fn into_view(self) -> V;
}

macro_rules! shown_unchanged {
    ($($type:ty),+) => { $(
        impl IntoView<$type> for $type {
            fn into_view(self) -> $type {
                self
            }
        }
    )+ };
}

shown_unchanged!(bool, i16, i32, i64, u32, u64, usize, String, &'static str, NaiveDate);
shown_unchanged!(AlertKind, Cause, JobDraft, ScriptDraft, RouteStrategy, RunState, Settings, WorkflowDraft);

impl IntoView<Time> for i64 {
    fn into_view(self) -> Time {
        Time(self)
    }
}

impl<T: IntoView<V>, V> IntoView<Option<V>> for Option<T> {
    fn into_view(self) -> Option<V> {
        self.map(T::into_view)
    }
}

impl<T: IntoView<V>, V> IntoView<Vec<V>> for Vec<T> {
    fn into_view(self) -> Vec<V> {
        self.into_iter().map(T::into_view).collect()
    }
}

/// Declares a view, its name in the OpenAPI document, and how it is made of a row. A member without a value is the row's member of the same
/// name. Values are computed before the others are moved out of the row. With further arguments, the view has a function `new`.
macro_rules! view {
    (
        $(#[$meta:meta])*
        $vis:vis struct $view:ident as $name:ident from $row:ident: $from:ty {
            $( $(#[$member_meta:meta])* $member:ident: $type:ty $(= $value:expr)?, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(serde::Serialize, utoipa::ToSchema)]
        #[schema(as = $name)]
        $vis struct $view { $( $(#[$member_meta])* $member: $type, )+ }

        impl From<$from> for $view {
            fn from($row: $from) -> Self {
                $( $( let $member: $type = $value; )? )+
                Self { $( $member: view!(@member $row $member $($value)?), )+ }
            }
        }

        impl $crate::web::api::view::IntoView<$view> for $from {
            fn into_view(self) -> $view {
                self.into()
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $view:ident as $name:ident from $row:ident: $from:ty, $($more:ident: $more_type:ty),+ {
            $( $(#[$member_meta:meta])* $member:ident: $type:ty $(= $value:expr)?, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(serde::Serialize, utoipa::ToSchema)]
        #[schema(as = $name)]
        $vis struct $view { $( $(#[$member_meta])* $member: $type, )+ }

        impl $view {
            $vis fn new($row: $from, $($more: $more_type),+) -> Self {
                $( $( let $member: $type = $value; )? )+
                Self { $( $member: view!(@member $row $member $($value)?), )+ }
            }
        }
    };
    (@member $row:ident $member:ident) => {
        $crate::web::api::view::IntoView::into_view($row.$member)
    };
    (@member $row:ident $member:ident $value:expr) => {
        $member
    };
}

pub(crate) use view;
