# The habits of the project, each one line. `make` alone lists them.

DATA ?=
LOG ?=

.PHONY: help run build test lint fmt openapi bench bench-import bench-details deny

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: ## Build, then serve the embedded default with the demo directory
	cargo run --release -- serve

build: ## Build the release binary
	cargo build --release

test: lint ## Run every test, on SQLite and on PostgreSQL; installs what is missing, stops what it started
	tests/with-services.sh cargo test --workspace

lint: ## Formatting, clippy and the documentation, without a warning
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

fmt: ## Format the code
	cargo fmt --all

openapi: ## Write openapi.json anew from the handlers
	cargo run --quiet -- openapi > openapi.json.new && mv openapi.json.new openapi.json

deny: ## Licences, bans, duplicates and sources of all crates
	@command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
	cargo deny check bans licenses sources
