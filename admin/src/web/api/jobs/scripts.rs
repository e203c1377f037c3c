//! `/jobs/{id}/scripts`: the versions of a job's script, for callers with the right to scripts.

use actix_web::web::Json;
use carillon_store::ScriptVersion;

use crate::web::api::answer::Answer;
use crate::web::api::extract::{Caller, Id, ScriptNumber};
use crate::web::api::view::{List, Time, view, words};
use crate::web::state::Shared;

view! {
    /// A version of a job's script
    pub struct ScriptVersionView as ScriptVersion from row: ScriptVersion {
        /// Milliseconds, greater than those of all earlier versions; its runs carry it as `glueUpdatetime`
        #[schema(minimum = 1)]
        version: i64,
        #[serde(rename = "type")]
        #[schema(value_type = words::ScriptType)]
        kind: &'static str = row.kind.as_str(),
        /// The digest of the source, in hexadecimal digits
        sha256: String,
        /// The size of the source
        #[schema(minimum = 1, maximum = 262_144)]
        bytes: i64,
        /// What is new in it
        remark: String,
        /// Who saved it
        author: String,
        created_at: Time,
    }
}

view! {
    /// The source of a version of a job's script
    pub struct ScriptSourceView as ScriptSource from row: ScriptVersion, text: String {
        #[schema(minimum = 1)]
        version: i64,
        #[serde(rename = "type")]
        #[schema(value_type = words::ScriptType)]
        kind: &'static str = row.kind.as_str(),
        /// What is new in it
        remark: String,
        source: String = text,
    }
}

pub async fn scripts(state: Shared, id: Id, caller: Caller) -> Answer<List<ScriptVersionView>> {
    let versions = state.engine.jobs().scripts(id.0, &caller.0).await?;
    Ok(Json(List::whole(versions.into_iter().map(ScriptVersionView::from))))
}

pub async fn script(state: Shared, id: Id, version: ScriptNumber, caller: Caller) -> Answer<ScriptSourceView> {
    let (row, source) = state.engine.jobs().script(id.0, version.0, &caller.0).await?;
    Ok(Json(ScriptSourceView::new(row, source)))
}
