//! Sessions of a Python script with `requests`, as they went over the wire to a console of xxl-job 2.4 and to one of 3.4: sign in, find
//! the group and the job, make one, change it, start it, run it, read its log, stop it, remove it. The numbers are filled in.

use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::client::on_node;
use crate::flow::node::Node;

/// Each with the path and the body.
const OLD: [(&str, &str); 11] = [
    ("/login", "userName=admin&password={password}&ifRemember=on"),
    ("/jobgroup/pageList", "appname=orders&title=&start=0&length=10"),
    (
        "/jobinfo/add",
        "jobGroup={group}&jobDesc=Close+the+day&author=ada&alarmEmail=&scheduleType=CRON&scheduleConf=0+30+23+%2A+%2A+%3F&cronGen_display=0+30+23+%2A+%2A+%3F&schedule_conf_CRON=0+30+23+%2A+%2A+%3F&schedule_conf_FIX_RATE=&schedule_conf_FIX_DELAY=&glueType=BEAN&executorHandler=closeDay&executorParam=%7B%22a%22%3A+1%7D&executorRouteStrategy=FIRST&childJobId=&misfireStrategy=DO_NOTHING&executorBlockStrategy=SERIAL_EXECUTION&executorTimeout=0&executorFailRetryCount=0&glueRemark=GLUE%E4%BB%A3%E7%A0%81%E5%88%9D%E5%A7%8B%E5%8C%96&glueSource=",
    ),
    ("/jobinfo/pageList", "jobGroup={group}&triggerStatus=-1&jobDesc=Close&executorHandler=&author=&start=0&length=10"),
    (
        "/jobinfo/update",
        "id={job}&jobGroup={group}&jobDesc=Close+the+day+2&author=ada&alarmEmail=&scheduleType=FIX_RATE&scheduleConf=3600&executorHandler=closeDay&executorParam=new&executorRouteStrategy=FIRST&childJobId=&misfireStrategy=DO_NOTHING&executorBlockStrategy=DISCARD_LATER&executorTimeout=30&executorFailRetryCount=1",
    ),
    ("/jobinfo/start", "id={job}"),
    ("/jobinfo/trigger", "id={job}&executorParam=once&addressList="),
    (
        "/joblog/pageList",
        "jobGroup={group}&jobId={job}&logStatus=-1&filterTime=2025-10-09+00%3A00%3A00+-+2025-10-09+23%3A59%3A59&start=0&length=10",
    ),
    ("/joblog/logDetailCat", "logId={run}&fromLineNum=1"),
    ("/jobinfo/stop", "id={job}"),
    ("/jobinfo/remove", "id={job}"),
];
const NEW: [(&str, &str); 11] = [
    ("/auth/doLogin", "userName=admin&password={password}&ifRemember=on"),
    ("/jobgroup/pageList", "appname=orders&title=&offset=0&pagesize=10"),
    (
        "/jobinfo/insert",
        "jobGroup={group}&jobDesc=Close+the+day&author=ada&alarmEmail=&scheduleType=CRON&scheduleConf=0+30+23+%2A+%2A+%3F&glueType=BEAN&executorHandler=closeDay&executorParam=%7B%22a%22%3A+1%7D&executorRouteStrategy=FIRST&childJobId=&misfireStrategy=DO_NOTHING&executorBlockStrategy=SERIAL_EXECUTION&executorTimeout=0&executorFailRetryCount=0&glueRemark=GLUE%E4%BB%A3%E7%A0%81%E5%88%9D%E5%A7%8B%E5%8C%96&glueSource=",
    ),
    (
        "/jobinfo/pageList",
        "jobGroup={group}&triggerStatus=-1&jobDesc=Close&executorHandler=&author=&offset=0&pagesize=10",
    ),
    (
        "/jobinfo/update",
        "id={job}&jobGroup={group}&jobDesc=Close+the+day+2&author=ada&alarmEmail=&scheduleType=FIX_RATE&scheduleConf=3600&executorHandler=closeDay&executorParam=new&executorRouteStrategy=FIRST&childJobId=&misfireStrategy=DO_NOTHING&executorBlockStrategy=DISCARD_LATER&executorTimeout=30&executorFailRetryCount=1",
    ),
    ("/jobinfo/start", "ids%5B%5D={job}"),
    ("/jobinfo/trigger", "id={job}&executorParam=once&addressList="),
    (
        "/joblog/pageList",
        "jobGroup={group}&jobId={job}&logStatus=-1&filterTime=2025-10-09+00%3A00%3A00+-+2025-10-09+23%3A59%3A59&offset=0&pagesize=10",
    ),
    ("/joblog/logDetailCat", "logId={run}&fromLineNum=1"),
    ("/jobinfo/stop", "ids%5B%5D={job}"),
    ("/jobinfo/delete", "ids%5B%5D={job}"),
];

/// What the script keeps.
#[derive(Default)]
struct Kept {
    cookie: String,
    password: String,
    group: String,
    job: String,
    run: String,
}

impl Kept {
    fn fill(&self, body: &str) -> String {
        let body = body.replace("{password}", &self.password).replace("{group}", &self.group);
        body.replace("{job}", &self.job).replace("{run}", &self.run)
    }

    /// As `requests` writes it.
    fn request(&self, host: &str, (path, body): (&str, &str)) -> String {
        let (body, cookie) = (self.fill(body), &self.cookie);
        let cookie = if cookie.is_empty() { String::new() } else { format!("Cookie: {cookie}\r\n") };
        format!(
            "POST /xxl-job-admin{path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: python-requests/2.31.0\r\nAccept-Encoding: gzip, deflate\r\n\
             Accept: */*\r\nConnection: close\r\n{cookie}Content-Length: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n{body}",
            body.len()
        )
    }
}

/// The head and the JSON of the answer.
async fn send(node: &Node, request: &str) -> (String, Value) {
    let host = node.url.trim_start_matches("http://");
    let mut connection = TcpStream::connect(host).await.unwrap();
    // Answers that are short are not compressed; what is, a recording cannot read.
    connection.write_all(request.replace("gzip, deflate", "identity").as_bytes()).await.unwrap();
    let mut answer = vec![];
    connection.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let body = match body.starts_with('{') {
        true => body.to_owned(),
        // One chunk.
        false => body.split("\r\n").nth(1).unwrap_or_default().to_owned(),
    };
    (head.to_owned(), serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {answer}")))
}

async fn play(node: &Node, executor: &RecordingExecutor, recording: &[(&str, &str)], is_new: bool) {
    let host = node.url.trim_start_matches("http://").to_owned();
    let mut kept = Kept { password: node.config.admin_password.clone().unwrap(), ..Kept::default() };
    let rows = |answer: &Value| if is_new { answer["data"]["data"].clone() } else { answer["data"].clone() };
    for call in recording {
        let (head, answer) = send(node, &kept.request(&host, *call)).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{call:?}: {head}");
        assert!(is_new || call.0.ends_with("pageList") || answer.get("data").is_none(), "{call:?}: {answer}");
        if answer.get("code").is_some() {
            assert_eq!(answer["code"], 200, "{call:?}: {answer}");
        }
        match call.0 {
            "/login" | "/auth/doLogin" => {
                let set: Vec<&str> =
                    head.lines().filter(|line| line.to_ascii_lowercase().starts_with("set-cookie")).collect();
                assert_eq!(set.len(), 1, "{head}");
                kept.cookie = set[0].split_once(": ").unwrap().1.split(';').next().unwrap().to_owned();
            }
            "/jobgroup/pageList" => kept.group = rows(&answer)[0]["id"].to_string(),
            "/jobinfo/pageList" => {
                assert_eq!(rows(&answer)[0]["executorParam"], "{\"a\": 1}");
                assert_eq!(rows(&answer)[0]["id"].to_string(), kept.job);
            }
            "/jobinfo/add" => kept.job = answer["content"].as_str().unwrap().to_owned(),
            "/jobinfo/insert" => kept.job = answer["data"].as_str().unwrap().to_owned(),
            "/jobinfo/trigger" => node.round().await,
            "/joblog/pageList" => {
                let run = rows(&answer)[0].clone();
                assert_eq!((&run["triggerCode"], &run["executorParam"]), (&json!(200), &json!("once")), "{run}");
                kept.run = run["id"].to_string();
                let lines = json!({"fromLineNum": 1, "toLineNum": 1, "logContent": "closed\n", "isEnd": true});
                executor.reply_to("/log", Reply::Body(json!({"code": 200, "content": lines}).to_string()));
            }
            "/joblog/logDetailCat" => {
                assert_eq!(answer[if is_new { "data" } else { "content" }]["logContent"], "closed\n");
            }
            _ => {}
        }
    }
    let id = kept.job.parse().unwrap();
    assert!(node.store.jobs().get(id).await.unwrap().is_none(), "the job is removed");
}

#[test]
fn a_recorded_script_of_each_generation_runs_to_its_end() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        play(node, &executor, &OLD, false).await;
        play(node, &executor, &NEW, true).await;
    });
}
