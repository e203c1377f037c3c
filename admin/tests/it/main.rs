//! The one test binary of the server: one link step, and tests that want a database get a fresh one each.
//!
//! `make test` starts what the tests need. A service that is missing is a failure, never a skip.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[macro_use]
mod services;
mod access;
mod alerts;
mod api;
mod browser;
mod cli;
mod conformance;
mod console;
mod faults;
mod files;
mod flow;
mod interop;
mod locks;
mod moving;
mod openid;
mod program;
mod repository;
mod tls;
mod wire;
