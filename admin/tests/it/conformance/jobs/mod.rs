//! Jobs: created, edited, disabled, deleted.

mod children;
mod delete;
mod disable;
mod edit;
mod edit_race;
mod former;
mod http;
mod job;
mod labels;
mod pause;
mod room;
mod scripts;
mod target;
mod zone_data;
