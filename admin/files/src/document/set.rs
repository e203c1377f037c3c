//! All files of a set.

use std::collections::BTreeMap;

use super::entry::{AppEntry, JobEntry, JobRef};
use super::fault::Fault;
use super::limit::{LimitEntry, LimitRef};
use super::{job, limit};
use crate::yaml::{self, Content, Key, Node};

/// What the files say together.
#[derive(Clone, Debug, Default)]
pub struct FileSet {
    /// Recorded at each of its jobs.
    pub name: String,
    pub apps: Vec<AppEntry>,
    pub limits: Vec<LimitEntry>,
    pub jobs: Vec<JobEntry>,
}

const MEMBERS: [&str; 5] = ["format", "set", "apps", "limits", "jobs"];

/// The set that these files, each with its name, describe together.
///
/// # Errors
/// All faults of all files, in their order.
pub fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<FileSet, Vec<Fault>> {
    let mut reader = Reader::default();
    for (file, text) in files {
        match yaml::read(text) {
            Ok(root) => reader.file(file, &root),
            Err(fault) => reader.faults.push(Fault {
                file: file.to_owned(),
                line: fault.line,
                member: String::new(),
                message: fault.message,
            }),
        }
    }
    reader.refuse_twice();
    if reader.faults.is_empty() { Ok(reader.set) } else { Err(reader.faults) }
}

#[derive(Default)]
struct Reader {
    set: FileSet,
    /// Where the name of the set was read first.
    named_in: Option<String>,
    faults: Vec<Fault>,
}

impl Reader {
    fn fault(&mut self, file: &str, line: usize, member: &str, message: impl Into<String>) {
        let (file, member, message) = (file.to_owned(), member.to_owned(), message.into());
        self.faults.push(Fault { file, line, member, message });
    }

    fn file(&mut self, file: &str, root: &Node) {
        let Content::Map(members) = &root.content else {
            return self.fault(
                file,
                root.line,
                "",
                format!("must be an object with format, set and jobs, not {}", root.kind()),
            );
        };
        for (key, _) in members.iter().filter(|(key, _)| !MEMBERS.contains(&&key.text[..])) {
            self.fault(file, key.line, &key.text, format!("is no member of a file; allowed: {}", MEMBERS.join(", ")));
        }
        self.format(file, member(members, "format"));
        self.name(file, member(members, "set"));
        for (index, node) in self.list(file, "apps", member(members, "apps")).iter().enumerate() {
            self.app(file, node, index);
        }
        for (index, node) in self.list(file, "limits", member(members, "limits")).iter().enumerate() {
            match limit::read(file, node, index) {
                Ok(entry) => self.limit(entry),
                Err(faults) => self.faults.extend(faults),
            }
        }
        let set = self.set.name.clone();
        for (index, node) in self.list(file, "jobs", member(members, "jobs")).iter().enumerate() {
            match job::read(file, node, index, &set) {
                Ok(entry) => self.set.jobs.push(entry),
                Err(faults) => self.faults.extend(faults),
            }
        }
    }

    fn list<'n>(&mut self, file: &str, name: &str, node: Option<&'n Node>) -> &'n [Node] {
        match node.map(|node| (&node.content, node)) {
            None => &[],
            Some((Content::List(items), _)) => items,
            Some((_, node)) => {
                self.fault(file, node.line, name, format!("must be a list, not {}", node.kind()));
                &[]
            }
        }
    }

    fn format(&mut self, file: &str, node: Option<&Node>) {
        match node.map(|node| (scalar(node), node.line)) {
            Some((Some("1"), _)) => {}
            Some((_, line)) => self.fault(file, line, "format", "must be 1: this program knows no other format"),
            None => self.fault(file, 1, "format", "is missing; write format: 1"),
        }
    }

    fn name(&mut self, file: &str, node: Option<&Node>) {
        let is_name = |text: &&str| {
            let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
            (1..=64).contains(&text.len()) && text.chars().all(is_word)
        };
        match node.map(|node| (scalar(node).filter(is_name), node.line)) {
            None => self.fault(file, 1, "set", "is missing; it names the set of files that owns these jobs"),
            Some((None, line)) => {
                self.fault(file, line, "set", "must be a name of 1 to 64 lower case letters, digits, `-`, `_` and `.`");
            }
            Some((Some(name), line)) => match &self.named_in {
                Some(first) if name != self.set.name => {
                    let message = format!("{first} is of the set {}; apply one set at a time", self.set.name);
                    self.fault(file, line, "set", message);
                }
                Some(_) => {}
                None => (self.named_in, self.set.name) = (Some(file.to_owned()), name.to_owned()),
            },
        }
    }

    fn app(&mut self, file: &str, node: &Node, index: usize) {
        let place = format!("apps[{index}]");
        let Content::Map(members) = &node.content else {
            return self.fault(file, node.line, &place, "must be an object: {name: …, title: …}");
        };
        for (key, _) in members.iter().filter(|(key, _)| key.text != "name" && key.text != "title") {
            self.fault(
                file,
                key.line,
                &format!("{place}.{}", key.text),
                "is no member of an app; allowed: name, title",
            );
        }
        let title = member(members, "title").and_then(scalar).map(str::to_owned);
        match member(members, "name").and_then(scalar).map(|name| (name, carillon_scheduler::validate_app_name(name))) {
            None => self.fault(file, node.line, &format!("{place}.name"), "is missing; it is required"),
            Some((_, Err(message))) => self.fault(file, node.line, &format!("{place}.name"), message),
            Some((name, Ok(()))) => match self.set.apps.iter_mut().find(|app| app.name == name) {
                Some(known) if known.title.is_none() || title.is_none() || known.title == title => {
                    known.title = known.title.take().or(title);
                }
                Some(_) => self.fault(file, node.line, &place, format!("{name} has another title in another place")),
                None => self.set.apps.push(AppEntry { name: name.to_owned(), title }),
            },
        }
    }

    /// A shared limit may stand in the files of several apps, if all say the same.
    fn limit(&mut self, entry: LimitEntry) {
        let reference: LimitRef = entry.reference();
        match self.set.limits.iter().find(|known| known.reference() == reference) {
            Some(known) if known.draft == entry.draft => {}
            Some(known) => {
                let message = format!("{}:{} says something else of this limit", known.file, known.line);
                self.faults.push(entry.fault("", message));
            }
            None => self.set.limits.push(entry),
        }
    }

    fn refuse_twice(&mut self) {
        let mut seen: BTreeMap<JobRef, &JobEntry> = BTreeMap::new();
        for entry in &self.set.jobs {
            if let Some(first) = seen.insert(entry.reference(), entry) {
                let message = format!("{}:{} has the same app and key", first.file, first.line);
                self.faults.push(entry.fault("key", message));
            }
        }
    }
}

fn member<'n>(members: &'n [(Key, Node)], name: &str) -> Option<&'n Node> {
    members.iter().find(|(key, _)| key.text == name).map(|(_, node)| node)
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.content {
        Content::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::Parts;

    use super::*;

    fn faults(text: &str) -> Vec<String> {
        read([("a.yaml", text)]).unwrap_err().iter().map(ToString::to_string).collect()
    }

    const HEAD: &str = "format: 1\nset: billing\njobs:\n";

    #[test]
    fn a_job_is_read_as_the_server_keeps_it() {
        let job = "  - {app: billing, key: a, name: ' x ', handler: 012, tags: [b, a], params: no, children: [b, other/c], retries: 2}\n";
        let set = read([("a.yaml", &*format!("{HEAD}{job}"))]).unwrap();
        let job = &set.jobs[0];
        assert_eq!((&*job.draft.name, &*job.draft.handler, &*job.draft.params), ("x", "012", "no"));
        assert_eq!((&job.draft.tags[..], job.draft.retries), (&["a".to_owned(), "b".to_owned()][..], 2));
        assert_eq!(job.children, [JobRef::new("billing", "b"), JobRef::new("other", "c")]);
        assert_eq!((&*set.name, &*job.draft.set, job.says_enabled), ("billing", "billing", false));
    }

    #[test]
    fn parts_are_a_number_or_texts() {
        let read = |parts: &str| {
            let job = format!("{HEAD}  - {{app: billing, key: a, name: x, handler: h, parts: {parts}}}\n");
            let set = read([("a.yaml", &*job)]).map_err(|faults| faults[0].to_string());
            set.map(|set| set.jobs[0].draft.parts.clone())
        };
        let each = |texts: [&str; 2]| Parts::Each(texts.map(str::to_owned).to_vec());
        assert_eq!(read("16"), Ok(Parts::Count(16)));
        assert_eq!(read("[1, 2]"), Ok(each(["1", "2"])), "texts, also without quotation marks");
        assert_eq!(read("[eu, '']"), Ok(each(["eu", ""])));
        let expected = "expected a number of parts or a list of texts";
        assert_eq!(read("many"), Err(format!("a.yaml:4: billing/a: parts: invalid type: string \"many\", {expected}")));
        let redacted = "a.yaml:4: billing/a: parts: an export left them out; write the parameters themselves";
        assert_eq!(read("[<redacted>, <redacted>]"), Err(redacted.to_owned()));
    }

    #[test]
    fn all_faults_are_named_at_once_with_line_and_member() {
        let said = faults(&format!(
            "{HEAD}  - app: billing\n    key: Close\n    name: a\n    retries: many\n    colour: red\n    schedule:\n      kind: cron\n      \
             expression: 0 0 25 * * ?\n      timezone: Mars/Olympus\n  - key: b\n    app: billing\n    name: b\n    handler: h\n    enabled: yes\n"
        ));
        let expected = [
            "a.yaml:8: billing/Close: colour: is no member of a job in a file",
            "a.yaml:4: billing/Close: handler: must not be empty; 1 to 255 characters",
            "a.yaml:7: billing/Close: retries: invalid type: string \"many\", expected i32",
            "a.yaml:5: billing/Close: key: 'C' is not allowed; a key has lower case letters, digits, `-`, `_` and `.`",
        ];
        for line in expected {
            assert!(said.contains(&line.to_owned()), "{line}\n{said:#?}");
        }
        assert!(
            said.iter().any(|line| line.starts_with("a.yaml:11: billing/Close: schedule.expression: hour field: 25")),
            "{said:#?}"
        );
        assert!(said.iter().any(|line| line.starts_with("a.yaml:12: billing/Close: schedule.timezone: ")), "{said:#?}");
        assert!(
            said.contains(
                &"a.yaml:17: billing/b: enabled: invalid type: string \"yes\", expected a boolean".to_owned()
            ),
            "{said:#?}"
        );
    }

    #[test]
    fn a_member_of_a_wrong_form_is_named_once() {
        let said = faults(&format!(
            "{HEAD}  - app: billing\n    name: [a]\n    handler: h\n    retry_delay: {{kind: fixed}}\n    tags: [a, {{}}]\n"
        ));
        let starts = [
            "a.yaml:4: jobs[0]: key: is missing",
            "a.yaml:5: jobs[0]: name: invalid type: sequence",
            "a.yaml:7: jobs[0]: retry_delay: missing field `seconds`",
            "a.yaml:8: jobs[0]: tags[1]: invalid type: map",
        ];
        assert_eq!(said.len(), starts.len(), "{said:#?}");
        for start in starts {
            assert!(said.iter().any(|line| line.starts_with(start)), "{start}\n{said:#?}");
        }
    }

    #[test]
    fn a_limit_has_the_members_of_the_api_and_stands_once() {
        let head = "format: 1\nset: billing\nlimits:\n";
        let shared = "  - {name: export, max: 2}\n";
        let one = format!("{head}{shared}  - {{name: '12', app: billing, max: 1, key: customer.id, all_jobs: true}}\n");
        let set = read([("a.yaml", &*one), ("b.yaml", &*format!("{head}{shared}"))]).unwrap();
        let names: Vec<String> = set.limits.iter().map(|limit| limit.reference().to_string()).collect();
        assert_eq!(names, ["limit export", "limit billing/12"]);
        assert!(set.limits[1].draft.all_jobs && set.limits[1].draft.max == 1);
        let said = faults(&format!(
            "{head}{shared}  - {{max: 0}}\n  - {{name: a b, max: many, colour: red}}\n  - {{name: a b, max: 0}}\n"
        ));
        assert_eq!(said[0], "a.yaml:5: limits[1]: name: is missing; it is required");
        assert_eq!(said[1], "a.yaml:6: limits[2]: colour: is no member of a limit");
        assert!(said[2].starts_with("a.yaml:7: limits[3]: name: "), "{said:?}");
        assert_eq!(said[3], "a.yaml:7: limits[3]: max: 0 is not allowed; 1 to 10000 runs");
        let other = faults(&format!("{head}{shared}  - {{name: export, max: 3}}\n"));
        assert_eq!(other, ["a.yaml:5: limit export: a.yaml:4 says something else of this limit"]);
    }

    #[test]
    fn the_frame_of_a_file_is_checked() {
        assert_eq!(
            faults("jobs: []\nsets: x\n"),
            [
                "a.yaml:2: sets: is no member of a file; allowed: format, set, apps, limits, jobs",
                "a.yaml:1: format: is missing; write format: 1",
                "a.yaml:1: set: is missing; it names the set of files that owns these jobs",
            ]
        );
        let job = "  - {app: billing, key: a, name: x, handler: h}\n";
        assert_eq!(
            faults(&format!("{HEAD}{job}{job}")),
            ["a.yaml:5: billing/a: key: a.yaml:4 has the same app and key"]
        );
        let one = "format: 1\nset: a\n";
        let said = read([("a.yaml", one), ("b.yaml", "format: 1\nset: b\n")]).unwrap_err();
        assert_eq!(said[0].to_string(), "b.yaml:2: set: a.yaml is of the set a; apply one set at a time");
    }
}
