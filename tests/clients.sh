#!/usr/bin/env bash
# shellcheck disable=SC2154 # clients/install.sh sets the variable tools.
# Tests the clients in clients/: compares their generated cores with openapi.json, checks types, runs their tests
# against the real server on both databases, and installs their packages. The services of tests/with-services.sh must run.
# What is missing is installed to target/clients. CAUSEWAY names a binary to use instead of building one.
set -euo pipefail

if [ -z "${CAUSEWAY:-}" ]; then
    cargo build --quiet --workspace --bin causeway
    CAUSEWAY=${CARGO_TARGET_DIR:-$PWD/target}/debug/causeway
fi
export CAUSEWAY

# The clients have the version of the server.
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
for file in clients/typescript/package.json clients/typescript/package-lock.json clients/python/pyproject.toml; do
    grep -qE "^ *\"?version\"?( =|:) \"$version\"" "$file" || {
        echo "$file does not have the version $version" >&2
        exit 1
    }
done

# Both packages name the repository. Registries show the READMEs, where relative links lead nowhere.
repository=$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml)
for file in clients/typescript/{package.json,README.md} clients/python/{pyproject.toml,README.md}; do
    grep -qF "$repository" "$file" || {
        echo "$file does not name the repository $repository" >&2
        exit 1
    }
done
if grep -nE '\]\([^h]|^\[.*\]: [^h]' clients/*/README.md; then
    echo "These links are relative" >&2
    exit 1
fi

clients/generate.sh --check

. clients/install.sh
install_node
install_typescript
install_python

test_typescript() {
    cd "$tools/typescript"
    npm --silent test
}

test_python() {
    rm -rf "$tools/python/source"
    cp -r clients/python "$tools/python/source"
    cd "$tools/python/source"
    export PATH=$tools/python/bin:$PATH WHEELS=$tools/python/wheels PYTHONPATH=src
    OLDEST_PYTHON=$(find_oldest_python)
    export OLDEST_PYTHON
    mypy
    pytest --quiet
}

# Side by side, because both mostly wait for the server. The shell ignores `set -e` where a status is tested, but not
# in a background job.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(test_python) >"$log" 2>&1 &
python=$!
(test_typescript) &
typescript=$!
failed=0
wait "$typescript" || failed=1
wait "$python" || failed=1
cat "$log"
exit "$failed"
