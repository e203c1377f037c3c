//! The parts of a fire in the forms: a number, or one text in each line.

use carillon_scheduler::Parts;

use super::client::Console;
use super::forms::but;
use super::run;

/// A form of a job that may be split.
fn form<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let plain = [("params", ""), ("route", "round_robin"), ("block", "serial")];
    let others = plain.into_iter().filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    but(&others.chain(changes.iter().copied()).collect::<Vec<_>>())
}

fn each(texts: &[&str]) -> Parts {
    Parts::Each(texts.iter().map(|&text| text.to_owned()).collect())
}

#[test]
fn a_number_or_a_list_is_saved_and_shown() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|_| ()).await;
        let admin = console.admin().await;
        let cases = [
            ("16", Parts::Count(16), "16", "16 parts for each fire"),
            (" eu\r\nus \r\n", each(&["eu", "us"]), "eu\nus", "2 parts for each fire, each with its own parameters"),
            (
                r#"["a\nb", ""]"#,
                each(&["a\nb", ""]),
                "[&#34;a\\nb&#34;,&#34;&#34;]",
                "2 parts for each fire, each with",
            ),
            ("", Parts::default(), "", ""),
        ];
        for (revision, (written, parts, shown, line)) in (1..).zip(cases) {
            let number = i32::to_string(&revision);
            let saved = admin.submit("/jobs/1/edit", &form(&[("parts", written), ("revision", &number)])).await;
            assert_eq!(saved.status, 303, "{}", saved.body);
            assert_eq!(console.store.jobs().get(job.id).await.unwrap().unwrap().draft.parts, parts);
            let form = admin.get("/jobs/1/edit").await.body;
            assert!(form.contains(&format!(">\n{shown}</textarea>")), "{form}");
            let page = admin.get("/jobs/1").await.body;
            assert!(page.contains(line), "{page}");
            assert_eq!(page.contains("data-testid=\"parts\""), parts.texts().is_some());
        }
        let history = admin.get("/jobs/1/history").await.body;
        assert!(history.contains("Parts"), "{history}");
    });
}

#[test]
fn what_is_wrong_stands_at_the_field_in_both_languages() {
    run(async {
        let console = Console::start().await;
        console.job(|_| ()).await;
        let admin = console.admin().await;
        admin.submit("/preferences", &[("language", "zh"), ("next", "/jobs")]).await;
        let refused = admin.submit("/jobs/1/edit", &form(&[("parts", "1001"), ("revision", "1")])).await;
        assert!(refused.status == 422 && refused.body.contains("不允许 1001，范围为 1 到 1000"), "{}", refused.body);
        let refused = admin.submit("/jobs/1/edit", &form(&[("parts", "eu"), ("revision", "1")])).await;
        assert!(refused.body.contains("有 1 个文本，列表须有 2 到 1000 个"), "{}", refused.body);
        let fields = form(&[("parts", "4"), ("route", "broadcast"), ("revision", "1")]);
        let refused = admin.submit("/jobs/1/edit", &fields).await;
        assert!(refused.body.contains("广播为每个执行器产生一个分片"), "{}", refused.body);
        admin.submit("/preferences", &[("language", "en"), ("next", "/jobs")]).await;
        let fields = form(&[("parts", "a\nb"), ("params", "x"), ("revision", "1")]);
        let refused = admin.submit("/jobs/1/edit", &fields).await;
        assert!(
            refused.body.contains("is a list, so `params` must be empty: each part gets its own text"),
            "{}",
            refused.body
        );
        let fields = form(&[("parts", "4"), ("block", "discard_later"), ("revision", "1")]);
        let refused = admin.submit("/jobs/1/edit", &fields).await;
        assert!(refused.body.contains("needs the block strategy `serial`"), "{}", refused.body);
    });
}

#[test]
fn run_now_splits_one_fire_and_run_again_offers_its_parts() {
    run(async {
        let console = Console::start().await;
        let job = console.job(|_| ()).await;
        let admin = console.admin().await;
        let path = format!("/jobs/{}/run", job.id);
        let asked = async |fields: &[(&str, &str)]| {
            let answer = admin.submit(&path, fields).await;
            assert_eq!(answer.status, 303, "{}", answer.body);
            let id: i64 = answer.location().rsplit('/').next().unwrap().parse().unwrap();
            let run = console.store.runs().get(id).await.unwrap().unwrap();
            (id, console.store.runs().parts_to_repeat(&run).await.unwrap())
        };
        assert_eq!(asked(&[("key", "a"), ("params", ""), ("parts", "")]).await.1, None);
        assert_eq!(asked(&[("key", "b"), ("params", "p"), ("parts", "3")]).await.1, Some(Parts::Count(3)));
        let (id, parts) = asked(&[("key", "c"), ("params", ""), ("parts", "eu\r\nus")]).await;
        assert_eq!(parts, Some(each(&["eu", "us"])));
        let again = admin.get(&format!("{path}?like={id}")).await.body;
        assert!(again.contains(">\neu\nus</textarea>"), "{again}");
        let rerun = id.to_string();
        let fields = [("key", "d"), ("params", ""), ("parts", "eu\r\nus"), ("rerun_of", rerun.as_str())];
        assert_eq!(asked(&fields).await.1, Some(each(&["eu", "us"])));
        let both = admin.submit(&path, &[("key", "e"), ("params", "p"), ("parts", "eu\nus")]).await;
        assert!(both.status == 422 && both.body.contains("each part gets its own text"), "{}", both.body);
    });
}
