# The commands of the project. `make` alone lists them.

DATA ?=
LOG ?=
TAGS ?=
FUZZ_SECONDS ?= 60

# A directory for the benchmarks; without one they generate their own.
GENERATE ?= 1800000
INPUT = $(if $(DATA),--file $(DATA),--generate $(GENERATE))
LOAD = target/release/causeway-load

SCRIPTS = .ci/run $(wildcard tests/*.sh clients/*.sh deploy/*.sh deploy/debian/*.sh) $(addprefix deploy/debian/,postinst prerm postrm)

.PHONY: help run build test test-quick cluster faults fault-ledger fault-journal fault-webhooks fault-backup fault-payments fault-disburse hostile card-testing fuzz-api check-deploy screenshots lighthouse lint lint-code lint-openapi fmt openapi bench bench-import bench-returns bench-details deny deb test-deb test-clients test-generators test-docs test-reconcile clients test-mcp test-properties test-doubles

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: ## Make a debug build, then serve the embedded default with the demo directory
	cargo run -- serve

build: ## Build the release binary
	cargo build --release

test: ## Run every test on SQLite and PostgreSQL; installs what is missing and stops what it started
	DENY=$(DENY) tests/deny.sh --if-installed
	tests/deploy.sh --rules
	tests/with-services.sh tests/all.sh
	tests/lint-openapi.sh

test-quick: ## Run the tests that need no browser and kill no server, on SQLite only: for every change
	NO_BROWSER=1 tests/with-services.sh tests/quick.sh

test-clients: ## Test the clients in clients/ against the server, on SQLite and PostgreSQL, and install their packages
	tests/with-services.sh tests/clients.sh

test-generators: ## Generate clients in six languages from openapi.json with openapi-generator; needs Java, takes minutes
	tests/generators.sh

test-reconcile: ## Answer the requests of OpenRefine, and validate the answers with the published schemas of the Reconciliation API
	tests/with-services.sh sh -c 'folder=$$(tests/reconciliation.sh) && \
	    CAUSEWAY_TEST_RECONCILIATION=$$folder cargo test --workspace --test stories openrefine'

test-doubles: ## Let emulate and localstripe, two other imitations of Stripe, sign events for a server
	tests/stripe-doubles.sh

test-docs: ## Run the samples of the documentation in all languages; make test runs curl, JavaScript and Python
	tests/samples.sh sh js py go php rb rs

clients: ## Generate the cores of the clients from openapi.json
	clients/generate.sh

cluster: $(if $(CAUSEWAY),,bench-build) ## Run three servers with PostgreSQL under Patroni, Redis, S3 and HAProxy, kill each part under load, and print one table: CAUSEWAY=binary
	mkdir -p target/cluster
	CLUSTER_LOGS=target/cluster tests/cluster.sh $(LOAD) cluster --causeway $(or $(CAUSEWAY),target/release/causeway) \
	    --out target/cluster/table.md --logs target/cluster

faults: ## Print the fault table with a verdict for each row; imports are killed at 300 moments on each database
	CAUSEWAY_FAULT_ROUNDS=$(or $(ROUNDS),300) CAUSEWAY_LEDGER_ROUNDS=25 CAUSEWAY_PAYMENT_ROUNDS=50 CAUSEWAY_BACKUP_ROUNDS=20 CAUSEWAY_DISK_ROUNDS=10 CAUSEWAY_SNAPSHOT_ROUNDS=50 CAUSEWAY_FAULT_SIZE=4 tests/with-services.sh tests/faults.sh

fault-ledger: ## Kill the server while it writes donations and fundraisers: ROUNDS=1000 on each database
	CAUSEWAY_LEDGER_ROUNDS=$(or $(ROUNDS),1000) tests/with-services.sh cargo test --test faults ledger -- --nocapture

# The former name.
fault-journal: fault-ledger

fault-webhooks: ## Kill servers that send events to failing receivers; takes hours: ROUNDS=100 EVENTS=1000 ENDPOINTS=49 on each database
	CAUSEWAY_WEBHOOK_ROUNDS=$(or $(ROUNDS),100) CAUSEWAY_WEBHOOK_EVENTS=$(or $(EVENTS),1000) \
	    CAUSEWAY_WEBHOOK_ENDPOINTS=$(or $(ENDPOINTS),49) tests/with-services.sh \
	    cargo test --workspace --test faults webhooks:: -- --nocapture --test-threads 1

fault-backup: ## Back up under writes and restore elsewhere: ROUNDS=20 on each database
	CAUSEWAY_BACKUP_ROUNDS=$(or $(ROUNDS),20) tests/with-services.sh cargo test --test faults backup -- --nocapture

fault-payments: ## Kill servers and a simulated Stripe while eight donors pay: ROUNDS=500 on each database
	cargo build --workspace --bin stripe-simulator
	CAUSEWAY_PAYMENT_ROUNDS=$(or $(ROUNDS),500) tests/with-services.sh \
	    cargo test --workspace --test faults payments:: -- --nocapture --test-threads 1

fault-disburse: ## Kill commands that prepare, approve, export and mark payments: ROUNDS=200 on each database
	CAUSEWAY_DISBURSE_ROUNDS=$(or $(ROUNDS),200) tests/with-services.sh \
	    cargo test --workspace --test faults disbursement:: -- --nocapture --test-threads 1

test-properties: ## Try the laws of the ledger, the books and payments with many cases; takes hours: CASES=100000
	CAUSEWAY_TEST_CASES=$(or $(CASES),100000) cargo test --release --package giving --lib -- property_tests:: webhooks::schedule::

fuzz-api: ## Fuzz the API with Schemathesis against its OpenAPI description: CALLS=100000 SEED=1
	tests/fuzz-api.sh $(or $(CALLS),100000) $(or $(SEED),1)

test-mcp: ## Run the conformance suite and the Python client of the Model Context Protocol, and record the results in docs/mcp.md
	cargo build
	tests/mcp.sh $(or $(CARGO_TARGET_DIR),target)/debug/causeway

check-deploy: ## Check every file in deploy/ with the tool that reads it: promtool, HAProxy, Patroni, Compose, Kubernetes schemas
	tests/deploy.sh

screenshots: ## Save every page at 375, 768 and 1280 px, light and dark, to target/screenshots, and check it with axe
	CAUSEWAY_SCREENSHOTS=1 tests/with-services.sh cargo test --workspace --test browser -- dashboard_pages:: developer_pages:: public_pages::

card-testing: ## Try out 50 cards from 200 addresses with 10,000 scripted donations beside 200 donors: minutes, on SQLite
	cargo test --release --test stories -- --ignored ten_thousand_scripted_attempts --nocapture

hostile: bench-build ## Flood the server in 14 ways beside an honest client, and fail if that client is affected. MIX_SECONDS=600: a long mix
	ulimit -n 12000; $(LOAD) hostile $(if $(DATA),--file $(DATA),--generate 100000) --seconds 5 --mix-seconds $(or $(MIX_SECONDS),30)

lighthouse: build ## Run Lighthouse (mobile) on the main pages: performance 95, everything else 100
	tests/lighthouse.sh

lint: lint-code ## Check formatting, clippy, shell scripts and documentation comments, without a warning
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

lint-code: ## Check formatting, clippy and shell scripts, as .ci/run does
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@if command -v shellcheck >/dev/null; then shellcheck --severity=warning $(SCRIPTS); fi

fmt: ## Format the code
	cargo fmt --all

openapi: ## Regenerate openapi.json from the handlers
	cargo run --quiet -- openapi > openapi.json.new && mv openapi.json.new openapi.json

lint-openapi: ## Lint openapi.json with Redocly, installed to target if it is missing; no findings are allowed
	tests/lint-openapi.sh

deny: ## Check licenses, bans, sources and advisories of all crates; DENY=required: fail without the advisories
	DENY=$(DENY) tests/deny.sh

deb: build ## Build a Debian package with a systemd unit into target/debian
	deploy/debian/build.sh

test-deb: deb ## Install, start, upgrade and remove the Debian package in a temporary copy of this machine; needs root
	tests/deb.sh "$$(ls -t target/debian/*.deb | head -n 1)"

bench: bench-import bench-returns bench-details bench-search bench-keys bench-markdown bench-fundraisers bench-site ## Run all benchmarks, one after the other

bench-import: bench-build ## Measure an import next to sqlite3, on SQLite and PostgreSQL: DATA=eo.csv.gz
	POSTGRES_OPTIONS= tests/with-services.sh sh -c '$(LOAD) import $(INPUT) --rounds 1 --postgres-url "$$CAUSEWAY_TEST_POSTGRES_URL"'

bench-returns: bench-build ## Measure an import of 300,000 returns next to unzipping and parsing them, on SQLite and PostgreSQL
	POSTGRES_OPTIONS= tests/with-services.sh sh -c '$(LOAD) returns --rounds 1 --postgres-url "$$CAUSEWAY_TEST_POSTGRES_URL"'

bench-details: bench-build ## Measure start, memory and rate of details next to /healthz: DATA=eo.csv.gz
	$(LOAD) details $(INPUT)

bench-search: bench-build ## Measure a typing log over HTTP next to /healthz: DIR=data-folder LOG=keystrokes.jsonl.gz [LARGE=folder]
	$(LOAD) search --data $(DIR) --log $(LOG) $(if $(LARGE),--large $(LARGE))

bench-keys: ## Measure the check of a key and its limit, and whether a busy key slows another
	cargo bench --quiet --bench keys

bench-markdown: ## Measure how long hostile stories of 20 KB take to render
	cargo bench --quiet --bench markdown

bench-fundraisers: bench-build ## Measure donations next to single-row commits of SQLite, raised next to /healthz
	$(LOAD) fundraisers --generate 2000

bench-payments: bench-build ## Measure payments next to SQLite, with Stripe silent, and the memory of a comparison: TRANSACTIONS=1000000
	$(LOAD) payments --generate 2000 $(if $(TRANSACTIONS),--transactions $(TRANSACTIONS))

bench-webhooks: bench-build ## Measure webhooks: deliveries next to a plain client, delays, and a dead endpoint: BACKLOG=1000000
	$(LOAD) webhooks --generate 2000 $(if $(BACKLOG),--backlog $(BACKLOG))

bench-site: bench-build ## Measure profile pages next to /healthz, the home search next to the API: DATA=eo.csv.gz
	$(LOAD) site $(INPUT)

bench-match: bench-build ## Measure rows per second of matching on one core: DATA=eo.csv.gz [DIR=data-folder]
	load/match.py --causeway target/release/causeway $(if $(DATA),--file $(DATA)) $(if $(DIR),--data $(DIR))

bench-pictures: bench-build ## Measure time and memory of every hostile picture, sent through an import
	$(LOAD) pictures

relevance: bench-build ## Measure the quality of search: DATA=eo.csv.gz or DIR=data-folder, LOG=keystrokes.jsonl.gz [EVERYDAY=everyday.jsonl] [INTENT=intent.jsonl FACTS=eo.csv.gz]
	$(LOAD) search $(if $(DIR),--data $(DIR),--file $(DATA)) --log $(LOG) $(if $(EVERYDAY),--everyday $(EVERYDAY)) $(if $(INTENT),--intent $(INTENT) --facts $(or $(FACTS),$(DATA))) --relevance-only

causes: bench-build ## Compare the causes of nonprofits with those that another platform shows: DATA=eo.csv.gz TAGS=cause_tags.csv
	load/causes.py --tags $(TAGS) --file $(DATA) --judgments load/cause-judgments.csv --each

fuzz: ## Fuzz pictures, Form 990 returns, the search index and its queries; FUZZ_SECONDS=60 for each target
	@command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
	cd crates/pictures && mkdir -p fuzz/target/found/picture && \
	    RUSTC_BOOTSTRAP=1 cargo fuzz run picture fuzz/target/found/picture fuzz/corpus/picture -- \
	        -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -rss_limit_mb=1024
	cd crates/ingest && mkdir -p fuzz/target/found/form990 && \
	    RUSTC_BOOTSTRAP=1 cargo fuzz run form990 fuzz/target/found/form990 fuzz/corpus/form990 -- \
	        -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -rss_limit_mb=1024
	cd crates/search && for target in query open; do \
	    mkdir -p "fuzz/target/found/$$target" && \
	    RUSTC_BOOTSTRAP=1 cargo fuzz run "$$target" "fuzz/target/found/$$target" "fuzz/corpus/$$target" -- \
	        -max_total_time=$(FUZZ_SECONDS) || exit 1; done

.PHONY: bench-build bench-match bench-search bench-keys bench-fundraisers bench-payments bench-webhooks bench-site bench-pictures relevance causes fuzz
bench-build:
	cargo build --release --workspace
