//! What goes wrong in the middle of a batch: the executor gets the first half of its runs alone.

use std::path::Path;

use serde_json::Value;

/// Once, to the next batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchFault {
    /// The executor goes on; its answer is lost.
    AnswerCut,
    /// The process ends when the executor has answered, before the answer is passed on.
    ExecutorKilled,
}

impl BatchFault {
    pub const ALL: [Self; 2] = [Self::AnswerCut, Self::ExecutorKilled];

    /// The name of its fault and of the file that arms it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AnswerCut => "batch_answer_cut",
            Self::ExecutorKilled => "batch_executor_killed",
        }
    }

    /// The fault that is armed in the folder. Its file goes, so it is hit once.
    pub fn take(folder: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| std::fs::remove_file(folder.join(fault.name())).is_ok())
    }
}

/// A batch with the first half of its runs, and the runs that are left out.
pub fn halve(batch: &[u8]) -> Option<(Vec<u8>, Vec<Value>)> {
    let mut batch: Value = serde_json::from_slice(batch).ok()?;
    let runs = batch["runs"].as_array_mut()?;
    let rest = runs.split_off(runs.len().div_ceil(2));
    Some((serde_json::to_vec(&batch).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_half_is_passed_on_and_the_rest_is_known() {
        let run = |id: i64| json!({"run": {"logId": id}});
        let batch = json!({"runs": [run(1), run(2), run(3)]}).to_string();
        let (half, rest) = halve(batch.as_bytes()).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&half).unwrap(), json!({"runs": [run(1), run(2)]}));
        assert_eq!(rest, [run(3)]);
        assert_eq!(halve(b"no batch"), None);
    }

    #[test]
    fn an_armed_fault_is_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        for fault in BatchFault::ALL {
            std::fs::write(folder.path().join(fault.name()), "").unwrap();
            assert_eq!(BatchFault::take(folder.path()), Some(fault));
            assert_eq!(BatchFault::take(folder.path()), None);
        }
    }
}
