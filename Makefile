# `make` or `make help` lists the targets. `make check` is the only gate; CI runs it and nothing else.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# rustup's own folder comes last: a cargo that is already on the PATH is the one that is meant.
export PATH := $(PATH):$(HOME)/.cargo/bin
# Given to cargo deny, cargo test, the benchmark program … as they are: make test ARGS='-p carillon-scheduler'
ARGS ?=

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: check
check: ## Everything that must hold before a commit is merged: all of the below but bench and services
	@.ci/check

.PHONY: fmt
fmt: ## Fail where `cargo fmt --all` would change something
	cargo fmt --all --check

.PHONY: clippy
clippy: ## Lints of all targets, warnings denied
	cargo clippy --locked --workspace --all-targets -- -D warnings

.PHONY: test
test: packages python ## All tests, on PostgreSQL, MariaDB and Redis of their own (ARGS='-p carillon-admin walls')
	@.ci/with-services cargo test --locked $(if $(ARGS),$(ARGS),--workspace --no-fail-fast)

.PHONY: doc
doc: ## Documentation of all crates, warnings denied
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps

.PHONY: deny
deny: ## Licences, banned crates and sources of the dependencies
	@"$$(.ci/cargo-deny)" --locked check licenses bans sources

.PHONY: bench
bench: packages ## Measure on this machine; takes minutes, wants an idle one (ARGS='-p carillon-scheduler')
	@.ci/with-services cargo bench --locked $(if $(ARGS),$(ARGS),--workspace --bench '*')

.PHONY: services
services: packages python ## PostgreSQL, MariaDB and Redis as the tests want them, until Ctrl-C; prints their environment
	@.ci/with-services

.PHONY: packages
packages:
	@.ci/packages

.PHONY: python
python:
	@.ci/python >/dev/null
