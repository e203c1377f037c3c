//! What an actor may do: the one function that the router and the engine's entry points ask.

use carillon_store::{Actor, Role};

/// What is to be done, by the role that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Look at it.
    View,
    /// Run, pause and resume a job, backfill it; end and resolve a run.
    Operate,
    /// Make, change and delete a job.
    Edit,
    /// Read and write the source of a job's script: an editor's, with the right to scripts.
    Script,
    /// Change what belongs to an app as a whole, or to the installation.
    Administer,
}

impl Action {
    pub const fn role(self) -> Role {
        match self {
            Self::View => Role::Viewer,
            Self::Operate => Role::Operator,
            Self::Edit | Self::Script => Role::Editor,
            Self::Administer => Role::Admin,
        }
    }
}

/// What it is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// An app, or what belongs to it: its jobs, runs and executors.
    App(i64),
    /// Lists, which show what the actor may see, and forms whose app is chosen in them.
    AnyApp,
    /// What the jobs of all apps use: each member of an app sees it, a change concerns all apps.
    Shared,
    /// Accounts, apps, metrics: for roles that count for all apps.
    Installation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allowed,
    /// The actor may see the object, but not do this to it.
    Forbidden,
    /// To this actor the object does not exist.
    Hidden,
}

/// Denies what no rule allows.
pub fn decide(actor: &Actor, action: Action, object: Object) -> Decision {
    let grants = &actor.grants;
    let role = match (object, action) {
        (Object::App(id), _) => grants.role_for(id),
        // A list without grants is empty.
        (Object::AnyApp, Action::View) => return Decision::Allowed,
        (Object::AnyApp, _) | (Object::Shared, Action::View) => grants.highest(),
        (Object::Shared | Object::Installation, _) => grants.role_for_all(),
    };
    let lacks_scripts = action == Action::Script && !matches!(object, Object::App(id) if grants.has_scripts(id));
    match role {
        Some(role) if role >= action.role() && !lacks_scripts => Decision::Allowed,
        None if matches!(object, Object::App(_)) => Decision::Hidden,
        _ => Decision::Forbidden,
    }
}

pub fn may(actor: &Actor, action: Action, object: Object) -> bool {
    decide(actor, action, object) == Decision::Allowed
}

/// Why an action is forbidden, and what would allow it.
pub fn refusal(action: Action, object: Object) -> String {
    let role = action.role();
    let article = if matches!(role, Role::Viewer) { "a" } else { "an" };
    let place = match object {
        Object::App(_) => "of the app",
        Object::AnyApp => "of an app",
        Object::Shared | Object::Installation => "of all apps",
    };
    let scripts = if action == Action::Script { " with the right to scripts" } else { "" };
    format!("only {article} {role} {place}{scripts} may do this")
}

#[cfg(test)]
mod tests {
    use carillon_store::Grants;

    use super::*;

    fn decisions(grants: &str, object: Object) -> String {
        let actor = Actor::new("ada", "", grants.parse::<Grants>().unwrap());
        let actions = [Action::View, Action::Operate, Action::Edit, Action::Administer];
        let letters = actions.map(|action| match decide(&actor, action, object) {
            Decision::Allowed => 'a',
            Decision::Forbidden => 'f',
            Decision::Hidden => 'h',
        });
        letters.iter().collect()
    }

    // covers: S26
    #[test]
    fn scripts_need_a_right_of_their_own_and_an_editor() {
        let actor = |grants: &str| Actor::new("ada", "", grants.parse::<Grants>().unwrap());
        let decide = |grants: &str| decide(&actor(grants), Action::Script, Object::App(1));
        assert_eq!(decide("all:admin"), Decision::Forbidden);
        assert_eq!(decide("1:operator 1:script"), Decision::Forbidden);
        assert_eq!(decide("1:editor 2:script"), Decision::Forbidden);
        assert_eq!(decide("1:editor 1:script"), Decision::Allowed);
        assert_eq!(decide("2:editor 1:script"), Decision::Hidden);
    }

    // covers: S10, S11
    #[test]
    fn a_role_allows_what_the_lesser_ones_allow_and_no_more() {
        for (grants, own, other, any, shared, installation) in [
            ("", "hhhh", "hhhh", "afff", "ffff", "ffff"),
            ("1:viewer", "afff", "hhhh", "afff", "afff", "ffff"),
            ("1:operator", "aaff", "hhhh", "aaff", "afff", "ffff"),
            ("1:editor", "aaaf", "hhhh", "aaaf", "afff", "ffff"),
            ("1:admin", "aaaa", "hhhh", "aaaa", "afff", "ffff"),
            ("all:viewer 1:editor", "aaaf", "afff", "aaaf", "afff", "afff"),
            ("all:editor", "aaaf", "aaaf", "aaaf", "aaaf", "aaaf"),
            ("all:admin", "aaaa", "aaaa", "aaaa", "aaaa", "aaaa"),
        ] {
            assert_eq!(decisions(grants, Object::App(1)), own, "{grants:?}, own app");
            assert_eq!(decisions(grants, Object::App(2)), other, "{grants:?}, other app");
            assert_eq!(decisions(grants, Object::AnyApp), any, "{grants:?}, any app");
            assert_eq!(decisions(grants, Object::Shared), shared, "{grants:?}, shared");
            assert_eq!(decisions(grants, Object::Installation), installation, "{grants:?}, installation");
        }
    }
}
