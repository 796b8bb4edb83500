#!/usr/bin/env bash
# Runs every test of the workspace, in three groups side by side: browser and fault tests mostly wait, and leave much of
# the processor to the others. Then come the clients and the samples of the documentation. The services of
# tests/with-services.sh must run.
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

# Most tests wait for a database, a process or a timer, so more of them run at once than there are cores.
cores=$(nproc)
logs=$(mktemp -d)
groups=()
# Each in a process group of its own, so that all of it can be stopped.
set -m
for name in "${waiting[@]}"; do
    RUST_TEST_THREADS=$((cores * 2)) cargo test --workspace --test "$name" >"$logs/$name" 2>&1 &
    groups+=($!)
done
set +m
stop() {
    for group in "${groups[@]}"; do
        kill -- -"$group" 2>/dev/null || true
    done
    rm -rf "$logs"
}
trap stop EXIT
trap 'exit 130' INT TERM

export RUST_TEST_THREADS=$((cores * 3))
failed=0
cargo test --workspace --lib --bins "${others[@]}" --no-fail-fast || failed=1
cargo test --workspace --doc || failed=1
export CAUSEWAY=${CARGO_TARGET_DIR:-$PWD/target}/debug/causeway
tests/clients.sh || failed=1
tests/samples.sh || failed=1
for index in "${!waiting[@]}"; do
    wait "${groups[$index]}" || failed=1
    cat "$logs/${waiting[$index]}"
done
exit "$failed"
