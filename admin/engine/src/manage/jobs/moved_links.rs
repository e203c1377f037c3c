//! Links to children that a move to another app would stop: the app of a child says whose jobs may start its jobs.

use std::collections::BTreeSet;

use carillon_accounts::policy::{self, Action, Object};
use carillon_scheduler::{FieldError, JobDraft};
use carillon_store::{Actor, App, ChildLink};
use foldhash::HashSet;

use crate::engine::Engine;
use crate::manage::error::Error;

/// A link that works and would stop.
pub(super) struct StoppedLink {
    pub link: ChildLink,
    /// For people, with its reason.
    pub why: String,
}

impl StoppedLink {
    /// What is wrong with the draft that moves the job; None: the draft has not that child any more.
    pub fn field_error(&self, draft: &JobDraft, moved: i64) -> Option<FieldError> {
        match self.link.child == moved {
            true => Some(FieldError::new("app", &self.why)),
            false => draft.children.contains(&self.link.child).then(|| FieldError::new("children", &self.why)),
        }
    }
}

/// The links that stop if these jobs move to the app, all of them at once.
pub(super) async fn stopped_links(
    engine: &Engine,
    moving: &[i64],
    to: &App,
    by: &Actor,
) -> Result<Vec<StoppedLink>, Error> {
    let store = &engine.cx.store;
    let links: Vec<ChildLink> =
        store.jobs().child_links(moving).await?.into_iter().filter(|link| link.is_started).collect();
    if links.is_empty() {
        return Ok(vec![]);
    }
    let names = store.apps().names().await?;
    let name = |id: i64| names.get(&id).map_or("", String::as_str);
    let child_apps: BTreeSet<i64> = links.iter().map(|link| link.child_app).chain([to.id]).collect();
    let starters = store.apps().starters_of(&Vec::from_iter(child_apps)).await?;
    let mut moving: HashSet<i64> = moving.iter().copied().collect();
    let mut stopped = vec![];
    // A job that stays takes part in no move: then further links may stop.
    loop {
        let app_of = |job: i64, own: i64| if moving.contains(&job) { to.id } else { own };
        let stops = |link: &&ChildLink| {
            let (parent, child) = (app_of(link.parent, link.parent_app), app_of(link.child, link.child_app));
            parent != child && !starters.contains(&(child, name(parent).to_owned()))
        };
        let found: Vec<ChildLink> = links.iter().filter(stops).copied().collect();
        for link in &found {
            let ChildLink { parent, child, .. } = link;
            let (parent_app, child_app) = (app_of(*parent, link.parent_app), app_of(*child, link.child_app));
            let sees = |app: i64| policy::may(by, Action::View, Object::App(app));
            let why = match sees(parent_app) && sees(child_app) {
                true => format!(
                    "job {parent} would no longer start its child {child}: app {} does not let jobs of app {} start its jobs",
                    name(child_app),
                    name(parent_app)
                ),
                false => "a chain with a job of another app would stop".to_owned(),
            };
            stopped.push(StoppedLink { link: *link, why });
        }
        let before = moving.len();
        found.iter().for_each(|link| {
            moving.remove(&link.parent);
            moving.remove(&link.child);
        });
        if moving.len() == before {
            return Ok(stopped);
        }
    }
}
