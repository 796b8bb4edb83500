#!/usr/bin/env bash
# Runs the unit tests, the stories on SQLite, and the checks of documents and code: what a change must pass before all
# other tests are worth their time. The services of tests/with-services.sh must run.
set -euo pipefail

# Most tests wait for a database, a process or a timer, so more of them run at once than there are cores.
RUST_TEST_THREADS=$(($(nproc) * 3))
export RUST_TEST_THREADS
exec cargo test --workspace --lib --bins --test architecture --test documents --test stories --test wording --no-fail-fast \
    -- --skip ::postgres --skip a_killed_import
