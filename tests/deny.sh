#!/usr/bin/env bash
# Checks the licenses, bans, sources and security advisories of all crates with cargo-deny, and installs it if it is
# missing. With --if-installed it checks nothing where cargo-deny is missing, since compiling it takes minutes.
#
# The advisories are a Git repository on GitHub. A machine that cannot reach it uses its last copy, or checks
# everything else; DENY=required makes that a failure.
set -euo pipefail

if ! command -v cargo-deny >/dev/null; then
    if [ "${1:-}" = --if-installed ] && [ "${DENY:-}" != required ]; then
        echo "Licenses and advisories are not checked, because cargo-deny is not installed. To install it: make deny"
        exit 0
    fi
    cargo install --locked cargo-deny
fi

cargo deny --locked check bans licenses sources

if ! timeout 60 cargo deny --locked fetch db; then
    [ "${DENY:-}" != required ] || { echo "The advisory database cannot be fetched." >&2; exit 1; }
    if [ -z "$(ls "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs" 2>/dev/null)" ]; then
        echo "Advisories are not checked, because their database cannot be fetched. Check them where there is a network: make deny"
        exit 0
    fi
    echo "The advisory database cannot be fetched; the last copy is used."
fi
cargo deny --locked check --disable-fetch advisories
