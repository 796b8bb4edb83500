#!/usr/bin/env bash
# Fuzzes the API with Schemathesis: at least CALLS requests to the operations of /v0.2/openapi.json, valid and invalid
# ones, with the credentials that each operation needs. Fails on a server error, and where the server answers or decides
# otherwise than the description says.
#
#     tests/fuzz-api.sh [CALLS [SEED]]
#
# Schemathesis is installed to target if it is missing. CAUSEWAY names a binary to use instead of building one.
set -euo pipefail

version=4.32.5
calls=${1:-1000}
seed=${2:-1}
# The most requests to one operation in a round.
examples=200

sources=$PWD/tests/fuzz-api
tools=$PWD/target/schemathesis
schemathesis=$tools/bin/schemathesis

if ! "$schemathesis" --version 2>/dev/null | grep -qF "$version"; then
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        sudo=()
        [ "$(id -u)" -eq 0 ] || sudo=(sudo)
        "${sudo[@]}" apt-get update -qq
        DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends python3 python3-venv
    fi
    python3 -m venv --clear "$tools"
    "$tools/bin/pip" install --quiet --no-compile --disable-pip-version-check "schemathesis==$version" || {
        echo "Schemathesis $version could not be installed from PyPI; run this again where PyPI can be reached" >&2
        exit 1
    }
fi

if [ -z "${CAUSEWAY:-}" ]; then
    cargo build --quiet --workspace --bin causeway
    CAUSEWAY=${CARGO_TARGET_DIR:-$PWD/target}/debug/causeway
fi

folder=$(mktemp -d)
stop() {
    if [ -n "${server:-}" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" || true
    fi
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM
# Schemathesis keeps notes in the current folder.
cd "$folder"

settings=(--config "$sources/causeway.toml" --data "$folder/data")
"$CAUSEWAY" serve "${settings[@]}" --listen 127.0.0.1:0 --metrics-listen off >server.log 2>&1 &
server=$!
until CAUSEWAY_FUZZ_URL=$(grep -m 1 -oE 'http://127\.0\.0\.1:[0-9]+' server.log); do
    kill -0 "$server" 2>/dev/null || { cat server.log >&2; exit 1; }
    sleep 0.1
done

create_key() {
    "$CAUSEWAY" key create "${settings[@]}" --account demo --kind "$1" --json | grep -oE 'cw[ps]k_[0-9A-Za-z]+'
}
CAUSEWAY_FUZZ_KEY=$(create_key public)
CAUSEWAY_FUZZ_PRIVATE_KEY=$(create_key private)
export CAUSEWAY_FUZZ_URL CAUSEWAY_FUZZ_KEY CAUSEWAY_FUZZ_PRIVATE_KEY SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$sources

# Every round has its own seed, so that a failing one can be repeated by itself.
sent=0
while [ "$sent" -lt "$calls" ]; do
    left=$(((calls - sent) / 20))
    limit=$((left < 20 ? 20 : left < examples ? left : examples))
    if ! "$schemathesis" --config-file "$sources/schemathesis.toml" run "$CAUSEWAY_FUZZ_URL/v0.2/openapi.json" \
        --seed "$seed" --max-examples "$limit" --no-shrink >round.log 2>&1; then
        cat round.log
        echo "The API differs from its description: see above. To repeat: tests/fuzz-api.sh 1 $seed" >&2
        exit 1
    fi
    round=$(grep -oE '[0-9]+ generated' round.log | grep -oE '[0-9]+')
    sent=$((sent + round))
    echo "seed $seed: $sent calls, no server errors, no differences"
    seed=$((seed + 1))
done
