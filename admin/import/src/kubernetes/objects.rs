//! The CronJobs in a file of objects.

use carillon_files::yaml::{Node, SyntaxFault, read_documents};

/// All of them: of several documents, and in lists.
pub fn cron_jobs(text: &str) -> Result<Vec<Node>, SyntaxFault> {
    let mut found = vec![];
    for document in read_documents(text)? {
        collect(document, &mut found);
    }
    Ok(found)
}

fn collect(object: Node, found: &mut Vec<Node>) {
    match object.member("kind").and_then(Node::text) {
        Some("CronJob") => found.push(object),
        Some("List" | "CronJobList") => {
            for item in object.member("items").map(Node::items).unwrap_or_default() {
                collect(item.clone(), found);
            }
        }
        _ => {}
    }
}

/// The member below these names.
pub fn at<'n>(object: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(object, |node, name| node.member(name))
}

/// The single value below these names; `null` is none.
pub fn text_at<'n>(object: &'n Node, path: &[&str]) -> Option<&'n str> {
    at(object, path)?.text().filter(|text| !matches!(*text, "" | "null" | "~"))
}
