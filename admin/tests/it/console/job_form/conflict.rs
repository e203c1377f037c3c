//! Two people change one job: each keeps what they changed, and the difference that is shown is a real one.

use carillon_scheduler::ScheduleDraft;

use super::client::{Answer, Console, ConsoleClient};
use super::run;

/// The fields of the edit form as a browser would send them, hidden ones included.
pub(super) fn filled(page: &Answer) -> Vec<(String, String)> {
    let of = |tag: &str, name: &str| -> Option<String> {
        let start = format!("{name}=\"");
        let value = tag.split(&start).nth(1)?.split('"').next()?;
        Some(value.replace("&#34;", "\"").replace("&#38;", "&"))
    };
    let form = page.body.split("data-testid=\"job-form\"").nth(1).unwrap();
    let form = form.split("</form>").next().unwrap();
    let mut fields = vec![];
    for tag in form.split('<').filter(|tag| tag.starts_with("input")) {
        let Some(name) = of(tag, " name") else {
            continue;
        };
        let choice = tag.contains("type=\"checkbox\"") || tag.contains("type=\"radio\"");
        if name != "csrf" && (!choice || tag.contains(" checked")) {
            fields.push((name, of(tag, " value").unwrap_or_default()));
        }
    }
    for select in form.split("<select ").skip(1) {
        let (name, options) = (of(select, " name"), select.split("</select>").next());
        let options: Vec<&str> = options.unwrap().split("<option ").skip(1).collect();
        let chosen = options.iter().find(|option| option.contains(" selected"));
        let chosen = chosen.or(options.first()).and_then(|it| of(it, "value"));
        fields.push((name.unwrap(), chosen.unwrap_or_default()));
    }
    for area in form.split("<textarea ").skip(1) {
        let (_, text) = area.split_once(">\n").unwrap();
        let text = text.split("</textarea>").next().unwrap();
        fields.push((of(area, " name").unwrap(), text.to_owned()));
    }
    fields
}

pub(super) fn with(mut fields: Vec<(String, String)>, name: &str, value: &str) -> Vec<(String, String)> {
    fields.retain(|(field, _)| field != name);
    fields.push((name.to_owned(), value.to_owned()));
    fields
}

pub(super) async fn save(visitor: &ConsoleClient, fields: &[(String, String)]) -> Answer {
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    visitor.submit("/jobs/1/edit", &fields).await
}

/// Job 1, two people who are signed in, and the form as the first of them sees it.
async fn two_editors() -> (Console, [ConsoleClient; 2], Vec<(String, String)>) {
    let console = Console::start().await;
    console.job(|job| job.schedule = ScheduleDraft::fixed_rate(60)).await;
    let both = [console.admin().await, console.admin().await];
    let seen = filled(&both[0].get("/jobs/1/edit").await);
    (console, both, seen)
}

/// The rows of a table of the conflict.
fn rows(answer: &Answer, table: &str) -> Vec<String> {
    let start = format!("data-testid=\"{table}\"");
    let Some(rest) = answer.body.split(&start).nth(1) else {
        return vec![];
    };
    let rest = rest.split("</table>").next().unwrap();
    let rows = rest.split("<tr>").skip(2).map(|row| {
        let cells = row.split('<').filter_map(|piece| piece.split('>').nth(1));
        let cells: Vec<&str> = cells.filter(|text| !text.trim().is_empty()).collect();
        cells.join("|")
    });
    rows.collect()
}

// covers: A7
#[test]
fn a_conflict_lists_only_what_both_have_changed() {
    run(async {
        let console = Console::start().await;
        console.job(|job| job.params = "old".into()).await;
        let (mine, theirs) = (console.admin().await, console.admin().await);
        let seen = filled(&mine.get("/jobs/1/edit").await);
        let other = with(seen.clone(), "params", "theirs");
        assert_eq!(save(&theirs, &other).await.status, 303);
        let conflict = save(&mine, &with(seen, "params", "mine")).await;
        assert_eq!(conflict.status, 409);
        assert_eq!(rows(&conflict, "both"), ["Parameters|theirs|mine"]);
        assert_eq!(rows(&conflict, "kept"), Vec::<String>::new());
    });
}

// covers: A7
#[test]
fn saving_again_leaves_a_job_paused_that_was_paused_meanwhile() {
    run(async {
        let (console, [mine, theirs], seen) = two_editors().await;
        theirs.submit("/jobs/1/disable", &[]).await;
        let conflict = save(&mine, &with(seen, "params", "mine")).await;
        assert_eq!(conflict.status, 409);
        assert_eq!(rows(&conflict, "both"), Vec::<String>::new());
        assert_eq!(rows(&conflict, "kept"), ["Enabled|yes|no"]);
        assert_eq!(save(&mine, &filled(&conflict)).await.status, 303);
        let job = console.store.jobs().get(1).await.unwrap().unwrap();
        assert_eq!(
            (job.draft.enabled, job.draft.params.as_str()),
            (false, "mine"),
            "the pause stays, and the edit is saved"
        );
    });
}

// covers: A7
#[test]
fn a_field_that_was_not_changed_here_keeps_what_the_other_person_saved() {
    run(async {
        let (console, [mine, theirs], seen) = two_editors().await;
        let other = with(with(seen.clone(), "retries", "7"), "seconds", "30");
        assert_eq!(save(&theirs, &other).await.status, 303);
        let conflict = save(&mine, &with(seen, "handler", "mine")).await;
        assert_eq!(rows(&conflict, "kept"), ["Interval|60|30", "Retries|0|7"]);
        // A third change, between the conflict and the second press.
        let again = filled(&conflict);
        theirs.submit("/jobs/1/disable", &[]).await;
        let second = save(&mine, &again).await;
        assert_eq!(rows(&second, "kept"), ["Enabled|yes|no"]);
        assert_eq!(save(&mine, &filled(&second)).await.status, 303);
        let job = console.store.jobs().get(1).await.unwrap().unwrap().draft;
        assert_eq!((job.retries, job.handler.as_str(), job.enabled), (7, "mine", false));
        assert_eq!(job.schedule, ScheduleDraft::fixed_rate(30));
    });
}
