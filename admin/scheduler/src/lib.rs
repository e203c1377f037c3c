//! Placeholder until the rules land: replace this file as a whole.
pub type Millis = i64;
pub trait Clock: Send + Sync {
    fn now(&self) -> Millis;
    fn monotonic(&self) -> std::time::Duration;
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i16)]
pub enum Cause {
    Schedule = 0,
    Manual = 1,
    Api = 2,
    Child = 3,
    Backfill = 4,
}
