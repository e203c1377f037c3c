# `make` or `make help` lists the targets. `make check` is the only gate; CI runs it and nothing else.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# rustup's own folder comes last: a cargo that is already on the PATH is the one that is meant.
export PATH := $(PATH):$(HOME)/.cargo/bin
# Given to cargo deny, cargo test, the benchmark program … as they are: make test ARGS='-p carillon-scheduler'. For `make bench`:
# options of cargo if a package or a benchmark is among them, else of the benchmark of a node's throughput.
ARGS ?=

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: check
check: ## Everything that must hold before a commit is merged: all of the below but measurements and services
	@.ci/check

.PHONY: fmt
fmt: ## Fail where `cargo fmt --all` would change something
	cargo fmt --all --check

.PHONY: clippy
clippy: ## Lints of all targets, warnings denied
	cargo clippy --locked --workspace --all-targets -- -D warnings

.PHONY: test
test: packages python ## All tests, on PostgreSQL, MariaDB and Redis of their own (ARGS='-p carillon-admin sources')
	@.ci/with-services --in-memory .ci/test $(ARGS)

.PHONY: doc
doc: ## Documentation of all crates, warnings denied
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps

.PHONY: deny
deny: ## Licences, banned crates and sources of the dependencies
	@"$$(.ci/cargo-tool cargo-deny)" --locked check licenses bans sources

.PHONY: advisories
advisories: ## Known vulnerabilities of the dependencies; needs a network, as the list is fetched from RustSec
	@"$$(.ci/cargo-tool cargo-deny)" --locked check advisories || \
	    { echo 'make advisories: see above; where the list could not be fetched, nothing was checked' >&2; exit 1; }

.PHONY: sbom
sbom: ## The parts of the program, with versions and licences, as a CycloneDX file under target/
	@.ci/sbom

.PHONY: dist
dist: ## The program as it is installed: static, with completions, manual pages and the list of its parts, under target/packages/program
	@.ci/dist

.PHONY: package
package: ## A Debian package of it, under target/packages
	@.ci/package

.PHONY: package-test
package-test: ## Install, start, upgrade and remove the package in a fresh Debian root; wants root
	@.ci/package-test

.PHONY: image
image: ## A container image of it, under target/packages
	@.ci/image

.PHONY: image-test
image-test: ## Start the image from its archive, and check the files for compose and Kubernetes; wants root
	@.ci/image-test

.PHONY: interop
interop: packages ## Published executors in Java, Go, Python and Rust against a node (ARGS=pyxxl for some, ARGS=--gate as `make check`)
	@.ci/interop $(ARGS)

.PHONY: bench
bench: packages ## Measure on this machine; takes minutes, wants an idle one (ARGS='--against ratchjob' or '-p carillon-scheduler')
	@.ci/with-services cargo bench --locked $(if $(filter --bench -p --package --workspace,$(ARGS)),$(ARGS),\
	    $(if $(ARGS),-p carillon-admin --bench throughput -- $(ARGS),--workspace --bench '*'))

.PHONY: profile
profile: packages ## Where the admin's CPU time goes under load; needs linux-perf (ARGS='--jobs 5000')
	@.ci/with-services .ci/profile $(ARGS)

.PHONY: build-times
build-times: ## How long builds take, from nothing and after one changed line; takes most of an hour
	@.ci/build-times

.PHONY: screenshots
screenshots: packages python ## A picture of each page, in both languages, light, dark and on a phone, under target/screenshots
	@CARILLON_SCREENSHOTS=$$(.ci/target)/screenshots .ci/with-services cargo test --locked -p carillon-admin --test it -- \
	    --ignored --exact browser::show::screenshots --nocapture

# The fault phase in seconds, by default 180; postgres, mariadb or sqlite; a seed that repeats the faults, by default a new one; the
# profile of cargo: release, or dev, which is built sooner beside the tests.
SECONDS :=
DB ?= postgres
SEED ?=
PROFILE ?= release

# With all packages and an example the dependencies have the features of the tests, so those that the tests have built are used.
chaos_packages = $(if $(filter dev,$(PROFILE)),--workspace --example hello,-p carillon-admin -p carillon-chaos)

.PHONY: chaos
chaos: packages ## Kill, pause and cut a cluster, then check it (SECONDS=180 DB=postgres|mariadb|sqlite SEED=7)
	cargo build --locked --profile $(PROFILE) $(chaos_packages) --features carillon-admin/failpoints \
	    --bin carillon-failpoints --bin carillon-chaos
	@target=$$(.ci/target) && built=$$target/$(PROFILE:dev=debug) && PATH=$$PATH:/usr/sbin:/sbin "$$built/carillon-chaos" run \
	    $(if $(SECONDS),--seconds $(SECONDS)) --db $(DB) $(if $(SEED),--seed $(SEED)) --binary "$$built/carillon-failpoints" \
	    --out "$$target/chaos" $(ARGS)

.PHONY: services
services: packages python ## PostgreSQL, MariaDB and Redis as the tests want them, until Ctrl-C; prints their environment
	@.ci/with-services

.PHONY: packages
packages:
	@.ci/packages

.PHONY: python
python:
	@.ci/python >/dev/null && .ci/python admin/tests/it/interop/openapi/requirements.txt >/dev/null
