#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod answer;
mod batch;
mod block;
mod callback;
mod codes;
mod declaration;
pub mod headers;
mod lenient;
mod log;
mod loops;
mod map;
mod members;
mod nonce_memory;
mod registration;
mod run_request;
mod signature;
mod url;
mod verdict;

pub use answer::Answer;
pub use batch::{BatchAnswer, BatchRun, MAX_BATCH_RUNS, RunAnswer, RunBatch};
pub use block::BlockStrategy;
pub use callback::{CallbackItem, Callbacks, MAX_CALLBACK_ITEMS, parse_callbacks};
pub use codes::{EXPIRED, FAILURE, OTHER_JOURNAL, SUCCESS, TIMEOUT, WRONG_TOKEN};
pub use declaration::{
    ASKS_FOR_DECLARATION, Declaration, DeclarePolicy, DeclaredJob, MAX_DECLARATION_BYTES, parse_declaration,
};
pub use log::{LogAnswer, LogPage, LogRequest, parse_cut_log_page, parse_log_page};
pub use loops::{
    LOOP_LATENESS_MS, LoopCounters, LoopFailure, LoopGrant, LoopHistory, LoopRef, LoopRenewals, LoopReport,
    LoopReports, LoopRun, LoopStop, LoopTiming, MAX_LOOP_REPORT_BYTES, MAX_LOOP_TEXT_BYTES, RenewedLoop, parse_loops,
};
pub use map::{
    DeliveredItem, Delivery, ItemQuery, ItemResult, ItemResults, MAX_ITEM_BYTES, MAX_ITEM_RESULT_BYTES, MAX_MAP_ITEMS,
    MAX_PAGE_BYTES, MAX_PAGE_ITEMS, MapPage, MappedItem, Reduction, parse_items,
};
pub use nonce_memory::NonceMemory;
pub use registration::{EXECUTOR_GROUP, Registration, parse_registration};
pub use run_request::{GLUE_BEAN, JobRef, RunRequest};
pub use signature::{SIGNATURE_WINDOW_MS, SIGNED_FOR_ADMIN, Signature, SignatureProblem, SignedRequest, SigningKey};
pub use url::{join_url, normal_address};
pub use verdict::{Verdict, parse_answer};
