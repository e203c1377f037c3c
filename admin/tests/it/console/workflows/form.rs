//! The form of a job that is a workflow.

use carillon_scheduler::workflow::{NodeJob, On};

use super::{World, part, row, text};
use crate::console::run;

const YAML: &str = "nodes:\r\n  load: {job: 1}\r\n  alarm: {job: tell, after: [{node: load, on: failure}]}\r\n";

fn fields<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("app", "orders"),
        ("name", "Close the day"),
        ("runs", "workflow"),
        ("workflow", YAML),
        ("kind", "none"),
        ("step", "save"),
    ];
    for (name, value) in changes {
        fields.retain(|(field, _)| field != name);
        fields.push((name, value));
    }
    fields
}

/// Two jobs: `Load` by its number 1, `Tell` by its key.
async fn world() -> World {
    let world = World::start().await;
    assert_eq!(world.node.job(|draft| draft.name = "Load".into()).await.id, 1);
    world.node.job(|draft| (draft.name, draft.key) = ("Tell".into(), "tell".into())).await;
    world
}

#[test]
fn a_workflow_is_made_and_edited_as_yaml() {
    run(async {
        let world = world().await;
        let form = world.get("/jobs/new").await;
        assert!(form.contains("id=\"runs-workflow\"") && form.contains("name=\"workflow\""), "{form}");
        let answer = world.admin.submit("/jobs", &fields(&[])).await;
        assert_eq!((answer.status, answer.location()), (303, "/jobs/3"), "{}", answer.body);
        let job = world.node.store.jobs().get(3).await.unwrap().unwrap();
        let workflow = job.draft.workflow.unwrap();
        assert_eq!((job.draft.handler.as_str(), workflow.nodes.len()), ("", 2));
        assert_eq!((&workflow.nodes[1].1.job, workflow.nodes[1].1.after[0].on), (&NodeJob::Id(2), On::Failure));

        let page = world.admin.get("/jobs/3/edit").await;
        assert!(page.body.contains("value=\"workflow\" checked"), "{}", page.body);
        let drawn = part(&page.body, "workflow-drawn");
        assert!(text(row(drawn, "alarm")).contains("Tell") && drawn.contains("<figure"), "{drawn}");
        let yaml = page.body.split("<textarea id=\"workflow\"").nth(1).unwrap().split('>').nth(1).unwrap();
        let yaml = yaml.split('<').next().unwrap().trim_start_matches('\n').replace("&#34;", "\"");
        let same = [("workflow", yaml.as_str()), ("revision", "1"), ("retries", "2")];
        assert_eq!(world.admin.submit("/jobs/3/edit", &fields(&same)).await.status, 303);
        let job = world.node.store.jobs().get(3).await.unwrap().unwrap();
        assert_eq!((job.draft.workflow.as_ref(), job.draft.retries), (Some(&workflow), 2), "written and read back");

        let handler = [("runs", "handler"), ("handler", "close"), ("revision", "2")];
        assert_eq!(world.admin.submit("/jobs/3/edit", &fields(&handler)).await.status, 303);
        let job = world.node.store.jobs().get(3).await.unwrap().unwrap();
        assert_eq!((job.draft.workflow, job.draft.handler.as_str()), (None, "close"));
    });
}

#[test]
fn all_faults_stand_beside_the_field_with_their_places() {
    run(async {
        let world = world().await;
        let yaml =
            "nodes:\n  load: {job: 1, aftr: [x]}\n  b: {job: 1, after: [none, load], join: some}\n  C: {job: 1}\n";
        let answer = world.admin.submit("/jobs", &fields(&[("workflow", yaml), ("retries", "many")])).await;
        assert_eq!(answer.status, 422);
        let beside: Vec<String> = answer
            .body
            .split("class=\"field-error\"")
            .skip(1)
            .map(|it| text(it.split("</p>").next().unwrap()))
            .collect();
        for expected in [
            "nodes.load.aftr`: line 2: there is no such member",
            "nodes.b.join`: line 3 cannot be read: “",
            "nodes.b.after[0].node`: there is no node `none`",
            "nodes.C`: 'C' is not allowed; a name has lower case letters, digits and `-`",
            "`many` is not a whole number",
        ] {
            let plain = |text: &String| text.replace("&#96;", "`").replace("&#39;", "'");
            assert!(beside.iter().map(plain).any(|it| it.contains(expected)), "{expected}: {beside:#?}");
        }
        assert!(answer.body.contains("aria-describedby=\"workflow-error\"") && answer.body.contains("aftr: [x]"));
        assert!(answer.body.contains("href=\"#workflow\""), "the summary leads to the field");

        // What only the server can say: a circle, and a job that is not there.
        let circle = "nodes:\n  a: {job: 99, after: [b]}\n  b: {job: 1, after: [a]}\n";
        let answer = world.admin.submit("/jobs", &fields(&[("workflow", circle)])).await;
        assert!(
            text(&answer.body).contains("the nodes form a circle: a -&gt; b -&gt; a")
                || text(&answer.body).contains("a -&#62; b"),
            "{}",
            answer.body
        );
        let nothing = world.admin.submit("/jobs", &fields(&[("workflow", "")])).await;
        assert_eq!(nothing.error("workflow"), Some("write at least one node"));
    });
}

#[test]
fn check_and_draw_saves_nothing_and_shows_picture_and_table() {
    run(async {
        let world = world().await;
        let answer = world.admin.submit("/jobs", &fields(&[("step", "preview")])).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let drawn = part(&answer.body, "workflow-drawn");
        assert!(drawn.contains("role=\"img\"") && text(row(drawn, "load")).contains("Load"), "{drawn}");
        assert!(world.node.store.jobs().get(3).await.unwrap().is_none());
        let broken = world.admin.submit("/jobs", &fields(&[("step", "preview"), ("workflow", "nodes: [")])).await;
        assert_eq!(broken.status, 422);
        assert!(part(&broken.body, "workflow-drawn").contains("There is a picture as soon as the nodes can be read."));
    });
}

#[test]
fn a_node_is_added_by_the_name_of_its_job() {
    run(async {
        let world = world().await;
        let add = |name: &'static str, job: &'static str| {
            [("step", "add_node"), ("node_name", name), ("node_job", job), ("node_after", "load, alarm")]
        };
        let page = world.admin.submit("/jobs", &fields(&add("end", "Tell"))).await.body;
        let yaml = page.split("<textarea id=\"workflow\"").nth(1).unwrap().split("</textarea>").next().unwrap();
        assert!(yaml.ends_with("  end:\n    job: 2\n    after: [load, alarm]\n"), "{yaml}");
        assert!(text(row(part(&page, "workflow-drawn"), "end")).contains("Tell load, alarm"), "{page}");
        let wrong = world.admin.submit("/jobs", &fields(&add("end", "Nothing"))).await;
        assert!(wrong.error("node_job").is_some_and(|said| said.starts_with("No job is called")), "{}", wrong.body);
        assert!(wrong.body.contains("value=\"Nothing\""), "what was typed stays");
    });
}

#[test]
fn faults_of_a_workflow_are_chinese() {
    run(async {
        let world = world().await;
        world.admin.submit("/preferences", &[("language", "zh"), ("next", "/jobs")]).await;
        let yaml = "nodes:\n  load: {job: 1, aftr: [x]}\n  b: {job: 1, after: [none, load]}\n  C: {job: 1}\n  d: {}\n";
        let answer = world.admin.submit("/jobs", &fields(&[("workflow", yaml)])).await;
        let page = text(&answer.body).replace("&#96;", "`");
        for words in [
            "`nodes.load.aftr`：第 2 行：没有此成员",
            "第 5 行：缺少，必须填写",
            "没有节点 `none`",
            "名称由小写字母、数字和 `-` 组成",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    });
}
