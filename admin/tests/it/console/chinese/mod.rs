//! The console in Chinese: what is wrong with a form or a filter is said in Chinese, wherever the sentence was written.

mod addresses;
mod forms;
mod job_form;

use carillon_accounts::secret::random_secret;
use carillon_accounts::secret_keys::SecretKeys;

use super::client::{Answer, Console, ConsoleClient};
use super::pages::register;

/// An executor that has registered.
const EXECUTOR: &str = "http://10.0.0.2:9999/a";

/// A visitor who reads Chinese, and has signed in.
async fn reader(console: &Console) -> ConsoleClient {
    let admin = console.admin().await;
    admin.submit("/preferences", &[("language", "zh"), ("next", "/jobs")]).await;
    admin
}

/// The errors of a page: beside fields, above a form or a list, in a message, and as the page's title with its advice.
fn errors(page: &str) -> Vec<String> {
    let parts = |start: &str, end: &str| -> Vec<String> {
        page.split(start)
            .skip(1)
            .map(|it| it.split(end).next().unwrap().split_once('>').unwrap().1.to_owned())
            .collect()
    };
    let mut found = parts("class=\"field-error\"", "</p>");
    for part in parts("class=\"error-summary", "</div>") {
        found.extend(part.split("<li>").map(str::to_owned));
    }
    found.extend(parts("class=\"message\" data-kind=\"failed\"", "</span>"));
    for part in parts("data-testid=\"error\"", "</section>") {
        found.extend(part.split("<p").take(3).skip(1).map(|it| it.split("</p>").next().unwrap().to_owned()));
    }
    let texts = found.iter().map(|text| without_tags(text));
    texts.filter(|text| text.chars().any(char::is_alphabetic)).collect()
}

fn without_tags(text: &str) -> String {
    let pieces = text.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<String>().replace("&#96;", "`").trim().to_owned()
}

/// Words that nearly each English sentence has one of.
const ENGLISH: &[&str] = &[
    "and", "are", "has", "have", "is", "must", "no", "not", "of", "such", "than", "that", "the", "this", "was", "with",
    "write",
];

/// Whether there is an English sentence beside what was typed, which stands in quotes.
fn is_english(text: &str) -> bool {
    let outside = text.split('`').step_by(2).flat_map(|it| it.split(['“', '”']).step_by(2));
    let mut words = outside.flat_map(|it| it.split(|c: char| !c.is_ascii_alphabetic()));
    words.any(|word| ENGLISH.contains(&word))
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

/// What is not in Chinese of the errors of an answer, or that there are too few of them.
async fn wrong(client: &ConsoleClient, what: &str, answer: Answer, least: usize) -> Option<String> {
    let answer = match answer.status {
        303 => client.get(answer.location()).await,
        _ => answer,
    };
    let errors = errors(&answer.body);
    let english: Vec<&String> = errors.iter().filter(|it| !is_chinese(it) || is_english(it)).collect();
    match (errors.len() < least, english.is_empty()) {
        (true, _) => Some(format!("{what}: {} {} errors, not {least}: {errors:?}", answer.status, errors.len())),
        (_, false) => Some(format!("{what}: {english:#?}")),
        _ => None,
    }
}

async fn start() -> (Console, ConsoleClient, String) {
    let keys = SecretKeys::parse(&random_secret()).unwrap();
    let console = Console::with(|config| config.secret_keys = keys).await;
    console.job(|job| job.schedule = carillon_scheduler::ScheduleDraft::cron("0 0 * * * ?", "UTC")).await;
    console.job(|_| ()).await;
    let reader = reader(&console).await;
    register(&console, EXECUTOR, "orders").await;
    reader.submit("/apps", &[("name", "billing")]).await;
    reader.submit("/calendars", &[("name", "bank"), ("days", "2099-12-25")]).await;
    let run = reader.submit("/jobs/2/run", &[("key", "k")]).await.location().replace("/runs/", "");
    reader.get("/jobs").await;
    (console, reader, run)
}
