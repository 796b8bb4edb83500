#!/usr/bin/env bash
# Runs every test of the workspace, and then those of the clients, the samples of the documentation, the Stripe simulator and a
# short fuzz run.
# Browser and fault tests often wait, so they run beside the stories; clients and fuzzer use few cores, so they run beside
# the unit tests. The services of tests/with-services.sh must run.
set -euo pipefail

waiting=(browser faults)
# All other test targets, by name.
mapfile -t others < <(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
targets = [target for package in json.load(sys.stdin)["packages"] for target in package["targets"]]
names = {target["name"] for target in targets if "test" in target["kind"]} - set(sys.argv[1:])
for name in sorted(names):
    print("--test", name, sep="\n")' "${waiting[@]}")

cargo test --workspace --no-run

logs=$(mktemp -d)
names=()
groups=()
# Starts a command in the background, in a process group of its own, so that all of it can be stopped.
start() {
    local name=$1
    shift
    set -m
    "$@" >"$logs/$name" 2>&1 &
    set +m
    names+=("$name")
    groups+=($!)
}
# What was started still runs if this script is interrupted; its output says what it waits for.
stop() {
    for group in "${groups[@]}"; do
        kill -- -"$group" 2>/dev/null || true
    done
    for log in "$logs"/*; do
        [[ -f $log ]] && cat "$log"
    done
    rm -rf "$logs"
}
trap stop EXIT
trap 'exit 130' INT TERM

# Both use what they install to target/clients.
test_clients() {
    local failed=0
    tests/clients.sh || failed=1
    tests/samples.sh || failed=1
    tests/webhooks.sh || failed=1
    return "$failed"
}

# Most tests wait for a database, a process or a timer, so more of them run at once than there are cores.
cores=$(nproc)
for name in "${waiting[@]}"; do
    RUST_TEST_THREADS=$((cores * 2)) start "$name" cargo test --workspace --test "$name"
done
export RUST_TEST_THREADS=$((cores * 3))
failed=0
cargo test --workspace "${others[@]}" --no-fail-fast || failed=1
binary=${CARGO_TARGET_DIR:-$PWD/target}/debug/causeway
CAUSEWAY=$binary start clients test_clients
CAUSEWAY=$binary start fuzz tests/fuzz-api.sh 500
SIMULATOR=${CARGO_TARGET_DIR:-$PWD/target}/debug/stripe-simulator start stripe tests/stripe.sh
cargo test --workspace --lib --bins --no-fail-fast || failed=1
cargo test --workspace --doc || failed=1
for index in "${!groups[@]}"; do
    wait "${groups[$index]}" || failed=1
    cat "$logs/${names[$index]}"
    rm "$logs/${names[$index]}"
done
exit "$failed"
