//! The roles of people in words.

use carillon_store::Role;

use crate::web::locale::{Language, Message};

/// What people call the role.
pub fn role_name(language: Language, role: Role) -> Message {
    language.text(match role {
        Role::Viewer => "role-viewer",
        Role::Operator => "role-operator",
        Role::Editor => "role-editor",
        Role::Admin => "role-admin",
    })
}
