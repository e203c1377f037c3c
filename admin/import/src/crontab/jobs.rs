//! From the lines of crontabs to jobs, and what is different here.

use carillon_scheduler::cron::Dialect;
use carillon_scheduler::{
    ClockChanges, CronSchedule, JobDraft, Millis, MisfirePolicy, ScheduleDraft, ScriptDraft, ScriptKind,
};

use super::line::{Entry, Line, When, parse};
use super::script::{Environment, script};
use crate::definitions::Definitions;

/// A file that cron reads.
#[derive(Clone, Debug)]
pub struct CrontabFile {
    /// As remarks name it.
    pub name: String,
    pub text: String,
    /// `/etc/crontab` and the files of `/etc/cron.d`: a user stands before the command.
    pub has_users: bool,
}

/// What a crontab does not say.
#[derive(Clone, Debug)]
pub struct CrontabOptions<'o> {
    pub app: &'o str,
    /// That of the machine.
    pub zone: &'o str,
    /// A handler that gets the script as parameters; `None`: script jobs.
    pub handler: Option<&'o str>,
    pub now: Millis,
}

/// The tag of the jobs.
const TAG: &str = "from-crontab";

/// What differs for all of them.
const OF_ALL: [&str; 5] = [
    "a code other than 0 makes a run fail here; cron looks at no code and sends output by mail",
    "the jobs are paused: take the line out of the crontab, then write `enabled: true` and apply",
    "commands run on the machine of an executor, as the user that its worker chooses, in a folder of their own",
    "an executor runs one run of a job at a time (`block: serial`); cron starts a command beside the one that still runs",
    "what falls due while no node runs is recorded as missed and not run (`misfire: skip`), as with cron",
];

/// What the entries of the files become.
pub fn definitions(files: &[CrontabFile], options: &CrontabOptions<'_>) -> Definitions {
    let mut done = Definitions::default();
    for file in files {
        Reader { options, file, zone: options.zone.to_owned(), environment: Environment::default(), done: &mut done }
            .read();
    }
    if !done.jobs.is_empty() {
        OF_ALL.into_iter().for_each(|text| done.remark("", text));
    }
    done
}

struct Reader<'r> {
    options: &'r CrontabOptions<'r>,
    file: &'r CrontabFile,
    zone: String,
    environment: Environment,
    done: &'r mut Definitions,
}

impl Reader<'_> {
    fn read(mut self) {
        let file = self.file;
        let mut comment = "";
        for (number, line) in (1..).zip(file.text.lines()) {
            let place = format!("{}:{number}", file.name);
            let above = std::mem::take(&mut comment);
            match parse(line, file.has_users) {
                Ok(Line::Empty) => {}
                Ok(Line::Comment(text)) => comment = text,
                Ok(Line::Setting { name, value }) => self.set(&place, &name, &value),
                Ok(Line::Entry(entry)) => {
                    if let Err(reason) = self.add(&place, &entry, above) {
                        self.done.leave_out(place, reason);
                    }
                }
                Err(reason) => self.done.leave_out(place, reason),
            }
        }
    }

    fn set(&mut self, place: &str, name: &str, value: &str) {
        match name {
            "CRON_TZ" => {
                self.zone = value.to_owned();
                self.done.remark(place, "CRON_TZ is taken as the time zone; Debian's cron does not know it");
            }
            "MAILTO" | "MAILFROM" => {
                let to = if value.is_empty() { "nobody" } else { value };
                self.done.remark(place, format!("{name} {to}: make an alert rule for the app instead"));
            }
            "RANDOM_DELAY" => {
                self.done
                    .remark(place, "RANDOM_DELAY: each job has a fixed offset within that time (`spread_seconds`)");
            }
            _ => {}
        }
        self.environment.set(name, value);
    }

    fn add(&mut self, place: &str, entry: &Entry<'_>, above: &str) -> Result<(), String> {
        let mut schedule = self.schedule(entry)?;
        if let Some(minutes) = self.environment.get("RANDOM_DELAY") {
            let minutes: u32 =
                minutes.parse().map_err(|_| format!("RANDOM_DELAY: `{minutes}` is no number of minutes"))?;
            schedule.spread_seconds = minutes.saturating_mul(60);
        }
        let source = script(entry, &self.environment);
        let mut job =
            JobDraft::new(self.options.app, name_of(&entry.command), self.options.handler.unwrap_or_default());
        job.schedule = schedule;
        job.description = [place, above].join(" ").trim().chars().take(1_000).collect();
        job.owner = entry.user.unwrap_or_default().to_owned();
        job.tags = vec![TAG.to_owned()];
        job.misfire = MisfirePolicy::Skip;
        job.enabled = false;
        match self.options.handler {
            Some(_) => job.params = source,
            None => job.script = Some(ScriptDraft::new(ScriptKind::Shell, source, remark(place))),
        }
        Definitions::check(&job, self.options.now)?;
        self.remark_on(place, entry);
        self.done.jobs.push(job);
        Ok(())
    }

    fn remark_on(&mut self, place: &str, entry: &Entry<'_>) {
        if let Some(user) = entry.user.filter(|user| *user != "root") {
            self.done.remark(place, format!("it ran as {user}"));
        }
        if entry.user == Some("root") {
            self.done.remark(place, "it ran as root; a worker runs no script as root");
        }
        if entry.command.contains("run-parts") {
            self.done.remark(place, "run-parts runs all files of a folder of that machine: they stay one job");
        }
    }

    fn schedule(&self, entry: &Entry<'_>) -> Result<ScheduleDraft, String> {
        let expression = match &entry.when {
            When::Every(text) => return Ok(ScheduleDraft::fixed_rate(crate::duration::seconds(text)?)),
            When::Expression(expression) => expression,
        };
        if expression.contains('~') {
            return Err("`~` draws a time by lot; write the time".to_owned());
        }
        let parsed = CronSchedule::parse_dialect(Dialect::Unix, expression, &self.zone, ClockChanges::Carillon);
        let parsed = parsed.map_err(|error| error.to_string())?;
        if parsed.next_after(self.options.now).is_none() {
            return Err(format!("`{expression}` never fires again"));
        }
        Ok(ScheduleDraft::unix_cron(expression, &self.zone))
    }
}

/// The end of the place: a path may be long.
fn remark(place: &str) -> String {
    const CHARS: usize = 90;
    let last = place.chars().count().saturating_sub(CHARS);
    format!("from {}", place.chars().skip(last).collect::<String>())
}

/// The command, as far as a name reaches.
fn name_of(command: &str) -> String {
    const CHARS: usize = 64;
    let line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(CHARS).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, has_users: bool) -> Definitions {
        let file = CrontabFile { name: "crontab".to_owned(), text: text.to_owned(), has_users };
        let options = CrontabOptions { app: "operations", zone: "Europe/Berlin", handler: None, now: 0 };
        definitions(&[file], &options)
    }

    fn source(job: &JobDraft) -> &str {
        job.script.as_ref().and_then(|script| script.source.as_deref()).unwrap_or_default()
    }

    fn texts(remarks: &[crate::Remark]) -> Vec<String> {
        remarks
            .iter()
            .filter(|remark| !remark.place.is_empty())
            .map(|remark| format!("{} {}", remark.place, remark.text))
            .collect()
    }

    #[test]
    fn entries_become_paused_jobs_with_what_stands_above_them() {
        let done = of(
            "MAILTO=ada\n# Close the day\n30 23 * * 1-5 /srv/close --day=\"$(date +\\%F)\"\nX=1\n@hourly /srv/poll\n",
            false,
        );
        assert_eq!(texts(&done.left_out), [""; 0]);
        let [close, poll] = &done.jobs[..] else { panic!("{done:?}") };
        assert_eq!(close.name, "/srv/close --day=\"$(date +%F)\"");
        assert_eq!(close.description, "crontab:3 Close the day");
        assert_eq!(close.schedule, ScheduleDraft::unix_cron("30 23 * * 1-5", "Europe/Berlin"));
        assert_eq!(source(close), "/srv/close --day=\"$(date +%F)\"\n");
        assert!(!close.enabled);
        assert_eq!(source(poll), "export X='1'\n/srv/poll\n");
        assert_eq!(poll.schedule, ScheduleDraft::unix_cron("@hourly", "Europe/Berlin"));
        assert_eq!(texts(&done.remarks), ["crontab:1 MAILTO ada: make an alert rule for the app instead"]);
    }

    #[test]
    fn what_becomes_no_job_is_named_with_its_line() {
        let done = of("@reboot /srv/start\n0~30 * * * * x\n0 0 30 2 * x\n61 * * * * x\n0 0 * *\n", false);
        let said = texts(&done.left_out);
        assert_eq!(done.jobs, []);
        assert_eq!(done.remarks, []);
        for (line, part) in
            [(1, "start of a machine"), (2, "by lot"), (3, "never fires"), (4, "61"), (5, "4 of 5 fields")]
        {
            let text = said.iter().find(|text| text.starts_with(&format!("crontab:{line} "))).expect(part);
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn zones_and_delays_hold_for_the_lines_below() {
        let done = of("@every 90m a\nCRON_TZ=Asia/Tokyo\nRANDOM_DELAY=5\n0 1 * * * b\n", false);
        let [first, second] = &done.jobs[..] else { panic!("{done:?}") };
        assert_eq!(first.schedule, ScheduleDraft::fixed_rate(5_400));
        assert_eq!(
            second.schedule,
            ScheduleDraft { spread_seconds: 300, ..ScheduleDraft::unix_cron("0 1 * * *", "Asia/Tokyo") }
        );
    }

    #[test]
    fn the_file_of_a_system_names_users() {
        let done = of("17 * * * * root cd / && run-parts /etc/cron.hourly\n0 1 * * * www-data /srv/clean\n", true);
        assert_eq!(done.jobs[1].owner, "www-data");
        let said = texts(&done.remarks);
        assert!(said.contains(&"crontab:2 it ran as www-data".to_owned()), "{said:?}");
        assert!(said.iter().any(|text| text.starts_with("crontab:1 run-parts")), "{said:?}");
    }

    #[test]
    fn apply_reads_the_file() {
        let done = of("0 1 * * * /srv/a 'x: y' # {{z}}\n0 2 * * * /srv/a 'x: y' # {{z}}\n0 3 * * * 数据\n", false);
        let text = done.file("crontab", "operations");
        let set = carillon_files::document::read([("jobs.yaml", text.as_str())])
            .unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
        let keys: Vec<&str> = set.jobs.iter().map(|job| job.draft.key.as_str()).collect();
        assert_eq!(keys, ["srv-a-x-y-z", "srv-a-x-y-z-2", "job-3"]);
        assert_eq!(set.jobs[0].draft.script, done.jobs[0].script);
    }
}
