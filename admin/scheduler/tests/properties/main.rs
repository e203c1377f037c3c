//! What holds for every schedule, zone and moment.

mod calendars;
mod case;
mod clock_changes;
mod clocks;
mod daily;
mod generate;
mod plans;
mod schedules;
mod second_opinion;
mod shards;
