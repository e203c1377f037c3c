//! Roles as lines of a page, and as the fields of a form.

use carillon_store::{App, GrantScope, Grants, Role};

use crate::web::forms::Form;
use crate::web::locale::{Language, Message};
use crate::web::text::names::role_name;

/// Before the scope in the name of a box for the right to scripts.
const SCRIPTS: &str = "scripts_";

/// A role and where it counts.
pub struct GrantLine {
    pub role: Message,
    /// `all apps`, or the name of an app.
    pub place: String,
}

/// Apps that are not visible are named by their number.
pub fn grant_lines(language: Language, grants: &Grants, apps: &[App]) -> Vec<GrantLine> {
    let place = |scope: GrantScope| match scope {
        GrantScope::AllApps => language.text("of-all-apps").to_string(),
        GrantScope::App(id) => {
            let found = apps.iter().find(|app| app.id == id);
            found.map_or_else(|| language.text("app-number").with("id", id).to_string(), |app| app.name.clone())
        }
    };
    let roles = grants.iter().map(|(scope, role)| GrantLine { role: role_name(language, role), place: place(scope) });
    let scripts =
        grants.scripts().map(|scope| GrantLine { role: language.text("right-to-scripts"), place: place(scope) });
    roles.chain(scripts).collect()
}

/// A select of the form: an app, or all of them.
pub struct GrantField {
    pub name: String,
    pub label: String,
    pub chosen: String,
    /// The name of the box for the right to scripts, and whether it is checked.
    pub scripts: String,
    pub has_scripts: bool,
}

/// The field for all apps, then one for each app.
pub fn grant_fields(language: Language, form: &Form, apps: &[App]) -> Vec<GrantField> {
    let all = ("grant_all".to_owned(), language.text("all-apps").to_string());
    let each = apps.iter().map(|app| (format!("grant_{}", app.id), app.name.clone()));
    let field = |(name, label): (String, String)| {
        let scripts = name.replace("grant_", SCRIPTS);
        let (chosen, has_scripts) = (form.value(&name).to_owned(), form.is(&scripts, "yes"));
        GrantField { name, label, chosen, scripts, has_scripts }
    };
    std::iter::once(all).chain(each).map(field).collect()
}

/// A form that shows these roles.
pub fn filled(grants: &Grants) -> Form {
    let form = grants.scripts().fold(Form::default(), |form, scope| form.with(&field_name(SCRIPTS, scope), "yes"));
    grants.iter().fold(form, |form, (scope, role)| form.with(&field_name("grant_", scope), role.as_str()))
}

/// The roles that a form asks for.
pub fn read(form: &mut Form, apps: &[App]) -> Grants {
    let scopes = std::iter::once(GrantScope::AllApps).chain(apps.iter().map(|app| GrantScope::App(app.id)));
    let (mut grants, mut scripts) = (vec![], vec![]);
    for scope in scopes {
        let name = field_name("grant_", scope);
        if form.is(&field_name(SCRIPTS, scope), "yes") {
            scripts.push(scope);
        }
        match form.value(&name).to_owned().as_str() {
            "" => {}
            word => match word.parse::<Role>() {
                Ok(role) => grants.push((scope, role)),
                Err(error) => form.add_error(&name, error.to_string()),
            },
        }
    }
    grants.into_iter().collect::<Grants>().with_scripts(scripts)
}

fn field_name(prefix: &str, scope: GrantScope) -> String {
    scope.app_id().map_or_else(|| format!("{prefix}all"), |id| format!("{prefix}{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_gives_back_the_roles_that_it_shows() {
        let app = |id: i64| App::new(id, &format!("app-{id}"));
        let apps = [app(7), app(9)];
        for text in ["", "all:admin", "all:viewer 7:editor", "7:viewer 9:admin", "all:editor all:script 9:script"] {
            let grants: Grants = text.parse().unwrap();
            assert_eq!(read(&mut filled(&grants), &apps), grants, "{text}");
        }
        let mut wrong = Form::default().with("grant_7", "root");
        assert!(read(&mut wrong, &apps).is_empty() && !wrong.is_valid());
        let lines = grant_lines(Language::English, &"all:viewer 7:editor 8:admin".parse().unwrap(), &apps);
        let places: Vec<&str> = lines.iter().map(|line| line.place.as_str()).collect();
        assert_eq!(places, ["all apps", "app-7", "app 8"]);
    }
}
