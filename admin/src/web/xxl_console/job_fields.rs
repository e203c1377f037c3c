//! A job as a row of xxl-job, and back. What xxl-job has no word for is shown by a word of its own, and a value that comes back as it
//! is shown changes nothing: a script that reads a job, changes one field and sends all of them loses nothing.

use carillon_import::xxl_job::words::{
    BLOCKS, MISFIRES, ROUTES, cron_kind, fixed_rate_seconds, meaning_of, new_job, schedule_words, word_for,
};
use carillon_scheduler::{FieldError, JobDraft, KindDraft, Zone};
use carillon_store::Job;
use serde_json::{Value, json};

use super::call::Call;
use super::parameters::Parameters;
use crate::web::api::Error;

/// The words that stand for a job's choices.
struct Words {
    schedule_type: &'static str,
    schedule_conf: String,
    misfire: String,
    route: String,
    block: &'static str,
}

impl Words {
    fn of(draft: &JobDraft) -> Self {
        let (schedule_type, schedule_conf) = schedule_words(&draft.schedule.kind).unwrap_or(("NONE", String::new()));
        let or_own = |word: Option<&str>, own: &str| word.map_or_else(|| own.to_ascii_uppercase(), str::to_owned);
        Self {
            schedule_type,
            schedule_conf,
            misfire: or_own(word_for(&MISFIRES, &draft.misfire), draft.misfire.as_str()),
            route: or_own(word_for(&ROUTES, &draft.route), draft.route.as_str()),
            block: word_for(&BLOCKS, &draft.block).unwrap_or("SERIAL_EXECUTION"),
        }
    }
}

/// The row of a job.
pub fn row(job: &Job, call: &Call, zone: Zone) -> Value {
    let (draft, words) = (&job.draft, Words::of(&job.draft));
    let children: Vec<String> = draft.children.iter().map(i64::to_string).collect();
    json!({
        "id": job.id,
        "jobGroup": job.app_id,
        "jobDesc": draft.name,
        "name": draft.name,
        "addTime": call.date(job.created_at, zone),
        "updateTime": call.date(job.updated_at, zone),
        "author": draft.owner,
        "alarmEmail": "",
        "scheduleType": words.schedule_type,
        "scheduleConf": words.schedule_conf,
        "misfireStrategy": words.misfire,
        "executorRouteStrategy": words.route,
        "executorHandler": draft.handler,
        "executorParam": draft.params,
        "executorBlockStrategy": words.block,
        "executorTimeout": draft.timeout_seconds,
        "executorFailRetryCount": draft.retries,
        "glueType": "BEAN",
        "glueSource": "",
        "glueRemark": "",
        "glueUpdatetime": call.date(job.created_at, zone),
        "childJobId": children.join(","),
        "triggerStatus": i32::from(draft.enabled),
        "triggerLastTime": 0,
        "triggerNextTime": job.next_fire_at.unwrap_or(0),
    })
}

/// A new job from the fields of a call.
///
/// # Errors
/// One for each field that cannot be read.
pub fn new_draft(sent: &Parameters, app: &str, zone: Zone) -> Result<JobDraft, Error> {
    let mut draft = new_job(app, String::new(), "");
    apply(sent, &mut draft, zone)?;
    Ok(draft)
}

/// Changes what the call carries.
///
/// # Errors
/// One for each field that cannot be read.
pub fn apply(sent: &Parameters, draft: &mut JobDraft, zone: Zone) -> Result<(), Error> {
    let shown = Words::of(draft);
    let mut wrong = vec![];
    if let Some(kind) = sent.text(&["glueType"]).filter(|kind| *kind != "BEAN") {
        let text = format!("`{kind:.64}` is not taken; only BEAN is, a handler of an executor");
        wrong.push(FieldError::new("glueType", text));
    }
    let name = sent.find("jobDesc").or_else(|| sent.find("name"));
    if let Some(name) = name.filter(|name| *name != draft.name) {
        draft.name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    for (name, member) in
        [("author", &mut draft.owner), ("executorHandler", &mut draft.handler), ("executorParam", &mut draft.params)]
    {
        if let Some(text) = sent.find(name) {
            *member = if name == "executorParam" { text.to_owned() } else { text.trim().to_owned() };
        }
    }
    set_word(sent, "misfireStrategy", (&MISFIRES, &shown.misfire), &mut draft.misfire, &mut wrong);
    set_word(sent, "executorRouteStrategy", (&ROUTES, &shown.route), &mut draft.route, &mut wrong);
    set_word(sent, "executorBlockStrategy", (&BLOCKS, shown.block), &mut draft.block, &mut wrong);
    set_number(sent, "executorTimeout", &mut draft.timeout_seconds, &mut wrong);
    set_number(sent, "executorFailRetryCount", &mut draft.retries, &mut wrong);
    match children(sent) {
        Ok(Some(children)) => draft.children = children,
        Ok(None) => {}
        Err(error) => wrong.push(error),
    }
    match kind(sent, &draft.schedule.kind, (&shown, zone)) {
        Ok(Some(kind)) => draft.schedule.kind = kind,
        Ok(None) => {}
        Err(error) => wrong.push(error),
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Error::all(wrong.into_iter().map(Error::from).collect())),
    }
}

/// The field of a call that sets a member of a job.
pub fn field_of(member: &str) -> &str {
    match member {
        "app" => "jobGroup",
        "name" => "jobDesc",
        "owner" => "author",
        "handler" => "executorHandler",
        "params" => "executorParam",
        "timeout_seconds" => "executorTimeout",
        "retries" => "executorFailRetryCount",
        "children" => "childJobId",
        "address" => "addressList",
        member if member.starts_with("schedule.") => "scheduleConf",
        other => other,
    }
}

fn set_word<T: Copy>(
    sent: &Parameters,
    name: &'static str,
    (words, shown): (&[(&str, T)], &str),
    member: &mut T,
    wrong: &mut Vec<FieldError>,
) {
    let Some(word) = sent.text(&[name]).filter(|word| *word != shown) else {
        return;
    };
    match meaning_of(words, word) {
        Some(meaning) => *member = meaning,
        None => {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let text = format!("`{word:.64}` is not known; one of {}", known.join(", "));
            wrong.push(FieldError::new(name, text));
        }
    }
}

fn set_number(sent: &Parameters, name: &'static str, member: &mut i32, wrong: &mut Vec<FieldError>) {
    let Some(text) = sent.text(&[name]) else { return };
    match text.parse::<i32>() {
        // As in xxl-job, where a negative number is none.
        Ok(number) => *member = number.max(0),
        Err(_) => wrong.push(FieldError::new(name, format!("“{text:.64}” is no number"))),
    }
}

/// None: they stay.
fn children(sent: &Parameters) -> Result<Option<Vec<i64>>, FieldError> {
    let Some(list) = sent.find("childJobId") else {
        return Ok(None);
    };
    let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
    let wrong = |item: &str| FieldError::new("childJobId", format!("“{item:.64}” is no number of a job"));
    items.map(|item| item.parse().map_err(|_| wrong(item))).collect::<Result<_, _>>().map(Some)
}

/// The schedule that the call asks for; None: it stays.
fn kind(sent: &Parameters, now: &KindDraft, (shown, zone): (&Words, Zone)) -> Result<Option<KindDraft>, FieldError> {
    if !sent.has("scheduleType") && !sent.has("scheduleConf") {
        return Ok(None);
    }
    let word = sent.text(&["scheduleType"]).unwrap_or(shown.schedule_type);
    let conf = sent.find("scheduleConf").map_or(shown.schedule_conf.as_str(), str::trim);
    if word == shown.schedule_type && (conf == shown.schedule_conf || word == "NONE") {
        return Ok(None);
    }
    match (word, now) {
        ("NONE", _) => Ok(Some(KindDraft::None)),
        // It keeps its time zone, and its rule for clock changes.
        ("CRON", KindDraft::Cron(cron)) => {
            let mut cron = cron.clone();
            conf.clone_into(&mut cron.expression);
            Ok(Some(KindDraft::Cron(cron)))
        }
        ("CRON", _) => {
            let own = match now {
                KindDraft::UnixCron(cron) => Some(cron.timezone.as_str()),
                KindDraft::Daily(daily) => Some(daily.timezone.as_str()),
                _ => None,
            };
            Ok(Some(cron_kind(conf, own.unwrap_or(zone.name()))))
        }
        ("FIX_RATE", _) => {
            let wrong = || FieldError::new("scheduleConf", "must be the period in whole seconds, 1 to 31536000");
            fixed_rate_seconds(conf).map(|seconds| Some(KindDraft::FixedRate { seconds })).ok_or_else(wrong)
        }
        (other, _) => {
            let text = format!("`{other:.64}` is not known; one of NONE, CRON, FIX_RATE");
            Err(FieldError::new("scheduleType", text))
        }
    }
}

/// The schedule that `nextTriggerTime` asks about.
///
/// # Errors
/// It is none.
pub fn asked_kind(sent: &Parameters, zone: Zone) -> Result<KindDraft, Error> {
    let nothing = Words::of(&JobDraft::new("", "", ""));
    Ok(kind(sent, &KindDraft::None, (&nothing, zone))?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use carillon_scheduler::{CronDraft, MisfirePolicy, RouteStrategy};

    fn changed(draft: &JobDraft, sent: &str) -> Result<JobDraft, String> {
        let mut draft = draft.clone();
        let applied = apply(&Parameters::read(sent, b""), &mut draft, Zone::UTC);
        applied.map(|()| draft).map_err(|error| error.to_string())
    }

    #[test]
    fn a_field_that_is_not_sent_stays() {
        let mut draft = new_job("billing", "Close".to_owned(), "close");
        draft.children = vec![7, 8];
        draft.schedule = CronDraftOf("0 0 12 * * ?").into();
        assert_eq!(changed(&draft, "id=3"), Ok(draft.clone()));
        let other = changed(&draft, "childJobId=&executorParam=&executorTimeout=5&jobDesc=New").unwrap();
        assert_eq!((other.children.len(), other.timeout_seconds, other.name.as_str()), (0, 5, "New"));
        let cron = changed(&draft, "scheduleConf=0+0+13+*+*+?").unwrap();
        let KindDraft::Cron(cron) = cron.schedule.kind else { panic!("no cron") };
        assert_eq!((cron.expression.as_str(), cron.timezone.as_str()), ("0 0 13 * * ?", "Asia/Shanghai"));
    }

    struct CronDraftOf(&'static str);

    impl From<CronDraftOf> for carillon_scheduler::ScheduleDraft {
        fn from(cron: CronDraftOf) -> Self {
            KindDraft::Cron(CronDraft::new(cron.0, "Asia/Shanghai")).into()
        }
    }

    #[test]
    fn what_xxl_job_cannot_say_stays_when_it_comes_back() {
        let mut draft = new_job("billing", "Close".to_owned(), "close");
        draft.route = RouteStrategy::Weighted;
        draft.misfire = MisfirePolicy::FireAll;
        draft.schedule = KindDraft::FixedDelay { seconds: 60 }.into();
        let back =
            "scheduleType=NONE&scheduleConf=&misfireStrategy=FIRE_ALL&executorRouteStrategy=WEIGHTED&glueType=BEAN";
        assert_eq!(changed(&draft, back), Ok(draft.clone()));
        let other = changed(&draft, "scheduleType=FIX_RATE&scheduleConf=30&executorRouteStrategy=ROUND").unwrap();
        assert_eq!(
            (other.schedule.kind, other.route),
            (KindDraft::FixedRate { seconds: 30 }, RouteStrategy::RoundRobin)
        );
    }

    #[test]
    fn each_wrong_field_is_named() {
        let draft = new_job("billing", "Close".to_owned(), "close");
        for (sent, error) in [
            ("glueType=GLUE_SHELL", "glueType: `GLUE_SHELL` is not taken; only BEAN is, a handler of an executor"),
            ("executorTimeout=x", "executorTimeout: “x” is no number"),
            ("childJobId=1,a", "childJobId: “a” is no number of a job"),
            ("misfireStrategy=X", "misfireStrategy: `X` is not known; one of DO_NOTHING, FIRE_ONCE_NOW"),
            ("scheduleType=FIX_DELAY", "scheduleType: `FIX_DELAY` is not known; one of NONE, CRON, FIX_RATE"),
            (
                "scheduleType=FIX_RATE&scheduleConf=0",
                "scheduleConf: must be the period in whole seconds, 1 to 31536000",
            ),
        ] {
            assert_eq!(changed(&draft, sent).unwrap_err(), error);
        }
    }
}
