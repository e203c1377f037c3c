//! `/apps/{id}/executors`: the executors, those whose address a person enters, and what operators set for them.

use actix_web::web::Json;
use carillon_scheduler::Millis;
use carillon_store::app::executors::{self, Executor};

use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, Query, request};
use crate::web::api::view::{List, Time, view};
use crate::web::state::Shared;

view! {
    /// An executor of the app: it has registered, or a person has entered its address
    pub struct ExecutorView as Executor from executor: Executor, now: Millis {
        /// Exactly as registered: it identifies the executor
        #[schema(min_length = 1, max_length = 255)]
        address: String,
        /// It uses Carillon's SDK
        own: bool = executor.boot_id.is_some(),
        /// Its last heartbeat still counts, or a person has entered its address
        live: bool = executor.is_live(now),
        /// A person has entered its address: it need not register, and stays until it is removed
        manual: bool = executor.manual_since.is_some(),
        /// Since when it gets no new runs; null: it gets them
        draining_since: Option<Time>,
        /// Its share of jobs with the route `weighted`: what is set, else what it announces, else 1
        #[schema(minimum = 1, maximum = 100)]
        weight: u32 = executor.weight(),
        /// `key=value,key2=value2`: what is set, else what it announces, else none
        #[schema(min_length = 0, max_length = 255)]
        labels: String = executor.labels().to_string(),
        /// What it announces of itself
        announced: ExecutorSettings,
        /// What an operator has set. It takes precedence, and outlives the registration
        set: ExecutorSettings,
        /// Since when it has been registered without a break
        registered_at: Time,
        /// Its last heartbeat; if it has sent none, when its address was entered
        seen_at: Time,
        /// When that heartbeat ceases to count; null: never, as a person has entered the address
        expires_at: Option<Time> = executor.manual_since.is_none().then_some(Time(executor.expires_at)),
    }
}

view! {
    /// Weight and labels of an executor
    struct ExecutorSettings as ExecutorSettings from settings: executors::ExecutorSettings {
        /// Null: not given
        #[schema(minimum = 1, maximum = 100)]
        weight: Option<i32>,
        /// Null: not given
        #[schema(min_length = 0, max_length = 255)]
        labels: Option<String>,
    }
}

pub async fn list(state: Shared, id: Id) -> Answer<List<ExecutorView>> {
    let app = state.engine.apps().get(id.0).await?;
    let now = state.clock.now();
    let executors = state.store.apps().executors_of(&app.name).await?.into_iter();
    Ok(Json(List::whole(executors.map(|executor| ExecutorView::new(executor, now)))))
}

request! {
    /// What is set for an executor. A member that is null or left out leaves it to the executor
    pub struct ExecutorUpdate: "an executor's address, weight and labels, such as {\"address\":\"http://10.0.0.5:9999/\",\"weight\":3}" {
        /// One that has registered for the app
        #[schema(min_length = 1, max_length = 255)]
        address: String,
        /// Its share of jobs with the route `weighted`
        #[schema(minimum = 1, maximum = 100)]
        weight: Option<i64>,
        /// `key=value,key2=value2`; `""`: none, even if it announces some
        #[schema(min_length = 0, max_length = 255)]
        labels: Option<String>,
    }
}

pub async fn update(state: Shared, id: Id, caller: Caller, body: Body<ExecutorUpdate>) -> Answer<ExecutorView> {
    let ExecutorUpdate { address, weight, labels } = body.0;
    let set = state.engine.executors().set(id.0, &address, weight, labels.as_deref(), &caller.0).await?;
    Ok(Json(ExecutorView::new(set, state.clock.now())))
}

request! {
    /// The address of an executor that need not register
    pub struct NewExecutor: "an executor's address, such as {\"address\":\"http://10.0.0.5:9999/\"}" {
        /// `http(s)://host:port`, with at most a plain path
        #[schema(min_length = 1, max_length = 255)]
        address: String,
    }
}

pub async fn enter(
    state: Shared,
    id: Id,
    caller: Caller,
    body: Body<NewExecutor>,
) -> Result<Created<ExecutorView>, Error> {
    let entered = state.engine.executors().enter(id.0, &body.0.address, &caller.0).await?;
    Ok(Created::new(ExecutorView::new(entered, state.clock.now())))
}

request! {
    /// Whether an executor gets new runs
    pub struct DrainUpdate: "an executor's address, and whether it drains, such as {\"address\":\"http://10.0.0.5:9999/\",\"draining\":true}" {
        /// One of the app's executors
        #[schema(min_length = 1, max_length = 255)]
        address: String,
        /// It gets no new runs
        draining: bool,
    }
}

pub async fn drain(state: Shared, id: Id, caller: Caller, body: Body<DrainUpdate>) -> Answer<ExecutorView> {
    let DrainUpdate { address, draining } = body.0;
    let set = state.engine.executors().set_draining(id.0, &address, draining, &caller.0).await?;
    Ok(Json(ExecutorView::new(set, state.clock.now())))
}

pub async fn remove(state: Shared, id: Id, caller: Caller, query: Query) -> Result<NoContent, Error> {
    let address = query.text("address")?;
    let address = address.ok_or_else(|| Error::field("address", "is missing; write the executor's address"))?;
    state.engine.executors().remove(id.0, &address, &caller.0).await?;
    Ok(NoContent)
}
