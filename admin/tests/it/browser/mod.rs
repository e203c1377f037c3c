//! The console in a real browser, on a real node with a real executor.

mod alerts;
mod chinese_words;
pub mod chromium;
mod every_page;
mod live;
mod log;
mod new_job;
pub mod pages;
mod people;
mod plain;
mod promises;
mod runs;
mod show;
mod states;
mod walk;

/// Two browsers at a time: each takes a few hundred megabytes and a good part of a processor.
static TURNS: tokio::sync::Semaphore = tokio::sync::Semaphore::const_new(2);

pub fn run(test: impl Future<Output = ()>) {
    crate::services::runtime().block_on(async {
        let _turn = TURNS.acquire().await.unwrap();
        test.await;
    });
}
