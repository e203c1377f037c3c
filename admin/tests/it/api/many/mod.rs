//! Many objects in one request: created together, and changed by one action.

mod batch;
mod bulk;
