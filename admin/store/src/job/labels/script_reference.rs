//! The script that a job's row names: without its source, which is kept by version.

use carillon_scheduler::{FieldError, ScriptDraft};
use sea_orm::{DbErr, QueryResult};

/// The script of a definition: what the job's row names, and the source if it is new.
pub(crate) type CheckedScript = (Option<ScriptDraft>, Option<String>);

/// A source that the job has already makes no new version.
pub(crate) fn check_script(
    given: Option<&ScriptDraft>,
    before: Option<&ScriptDraft>,
) -> std::result::Result<CheckedScript, FieldError> {
    let Some(given) = given else {
        return Ok((None, None));
    };
    let Some(source) = given.stored_source() else {
        return match before {
            Some(kept) if kept.kind == given.kind => Ok((Some(kept.clone()), None)),
            Some(_) => Err(FieldError::new("script.source", "is missing; a script of another type needs its source")),
            None => Err(FieldError::new("script.source", "is missing; the job has no script yet")),
        };
    };
    let sha256 = Some(ScriptDraft::digest(&source));
    if let Some(kept) = before.filter(|it| it.kind == given.kind && it.sha256 == sha256) {
        return Ok((Some(kept.clone()), None));
    }
    given.check_remark()?;
    let (remark, bytes) = (given.remark.trim().to_owned(), Some(source.len() as i64));
    Ok((Some(ScriptDraft { kind: given.kind, source: None, remark, version: None, sha256, bytes }), Some(source)))
}

/// The script that a job's row names.
pub(crate) fn script_of(row: &QueryResult) -> std::result::Result<Option<ScriptDraft>, DbErr> {
    let Some(kind) = row.try_get::<Option<String>>("", "script_type")? else {
        return Ok(None);
    };
    Ok(Some(ScriptDraft {
        kind: kind.parse().map_err(|error: carillon_scheduler::UnknownWord| DbErr::Type(error.to_string()))?,
        source: None,
        remark: row.try_get::<Option<String>>("", "script_remark")?.unwrap_or_default(),
        version: row.try_get("", "script_version")?,
        sha256: row.try_get("", "script_sha256")?,
        bytes: row.try_get("", "script_bytes")?,
    }))
}
