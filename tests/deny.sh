#!/usr/bin/env bash
# Checks the licenses, bans, sources and security advisories of all crates with cargo-deny, and installs it if it is
# missing. With --if-installed, for "make test", it checks nothing where cargo-deny is missing, since compiling it takes
# minutes, and it does not list warnings.
#
# The advisories are a Git repository on GitHub. A machine that cannot reach it uses its last copy, or checks
# everything else; DENY=required makes that a failure.
set -euo pipefail

if_installed=false
level=warn
if [ "${1:-}" = --if-installed ]; then
    if_installed=true
    level=error
fi

if ! command -v cargo-deny >/dev/null; then
    if $if_installed && [ "${DENY:-}" != required ]; then
        echo "Licenses and advisories are not checked, because cargo-deny is not installed. To install it: make deny"
        exit 0
    fi
    cargo install --locked cargo-deny
fi

deny() { cargo deny --locked --log-level $level "$@"; }
deny check --hide-inclusion-graph bans licenses sources
if timeout 60 cargo deny --locked fetch db; then
    deny check advisories
elif [ "${DENY:-}" = required ]; then
    echo "The advisory database cannot be fetched." >&2
    exit 1
elif compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*/.git" >/dev/null; then
    echo "The advisory database cannot be fetched; the last copy is used."
    deny --offline check advisories
else
    echo "Advisories are not checked, because their database cannot be fetched. Run make deny where GitHub can be reached."
fi
