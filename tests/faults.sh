#!/usr/bin/env bash
# Runs the tests of the fault table (tests/faults/table.txt) and prints a verdict for each row, computed from their
# results. Exits with 1 if a test failed, and with 2 if the table names a test that does not exist.
#
# CAUSEWAY_FAULT_ROUNDS, CAUSEWAY_LEDGER_ROUNDS and CAUSEWAY_PAYMENT_ROUNDS set how often imports and servers are killed, CAUSEWAY_BACKUP_ROUNDS how
# many backups are taken under writes and killed, CAUSEWAY_DISK_ROUNDS how often a disk is filled, and
# CAUSEWAY_SNAPSHOT_ROUNDS how often a snapshot is damaged.
set -euo pipefail
cd "$(dirname "$0")/.."

table=tests/faults/table.txt
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

rows() { grep -E '^[0-9]+ \|' "$table"; }

# Prints the arguments with which cargo builds a target: a test of the root package, or a crate. Always of the workspace,
# as make test builds it: a single package would compile its dependencies again, with other features.
target() {
    if [ -d "crates/$1" ]; then
        echo "--workspace --lib"
    elif [ "$1" = load ]; then
        echo "--workspace --test hostile"
    else
        echo "--workspace --test $1"
    fi
}

mapfile -t targets < <(rows | grep -oE '[a-z_]+:[a-z_0-9:]+' | cut -d : -f 1 | sort -u)

# The tests of payments start it.
cargo build --quiet --workspace --bin stripe-simulator

missing=0
for name in "${targets[@]}"; do
    mapfile -t tests < <(rows | grep -oE "\b$name:[a-z_0-9:]+" | cut -d : -f 2- | sort -u)
    # shellcheck disable=SC2046 # The arguments are words.
    cargo test --quiet $(target "$name") -- --list --format terse >"$results/$name.list"
    for test in "${tests[@]}"; do
        grep -qx "$test: test" "$results/$name.list" || {
            echo "$table names $name:$test, but there is no such test" >&2
            missing=1
        }
    done
    printf '%s\n' "${tests[@]}" >"$results/$name.tests"
done
[ $missing -eq 0 ] || exit 2

for name in "${targets[@]}"; do
    mapfile -t tests <"$results/$name.tests"
    # A failure shows in the table; --show-output tells which tests were skipped.
    # shellcheck disable=SC2046
    cargo test $(target "$name") --no-fail-fast -- --exact --show-output "${tests[@]}" 2>&1 | tee "$results/$name.log" || true
done

# Prints passed, skipped, failed or missing for TARGET:NAME.
result() {
    local name=${1%%:*} test=${1#*:}
    if ! grep -qE "^test $test \.\.\. ok$" "$results/$name.log"; then
        if grep -qE "^test $test \.\.\. " "$results/$name.log"; then echo failed; else echo missing; fi
    elif awk -v header="---- $test stdout ----" '$0 == header { inside = 1; next } /^---- / { inside = 0 } inside && /^skipped:/ { found = 1 } END { exit !found }' "$results/$name.log"; then
        echo skipped
    else
        echo passed
    fi
}

status=0
echo
printf '%-3s %-58s %s\n' '#' 'Fault' 'Verdict'
while IFS='|' read -r number fault tests uncovered; do
    read -r number <<<"$number"
    read -r fault <<<"$fault"
    read -r uncovered <<<"$uncovered" || true
    read -ra names <<<"$tests"
    verdict=passed
    [ ${#names[@]} -gt 0 ] || verdict='not covered yet'
    details=()
    for name in "${names[@]}"; do
        outcome=$(result "$name")
        details+=("$outcome: $name")
        case $outcome in
        failed | missing) verdict=failed status=1 ;;
        skipped) [ "$verdict" = failed ] || verdict=skipped ;;
        esac
    done
    if [ "$verdict" = passed ] && [ -n "$uncovered" ]; then verdict='passed in part'; fi
    printf '%-3s %-58s %s\n' "$number" "$fault" "$verdict"
    [ ${#details[@]} -eq 0 ] || printf '      %s\n' "${details[@]}"
    [ -z "$uncovered" ] || printf '      not covered yet: %s\n' "$uncovered"
done < <(rows)
exit $status
