#!/usr/bin/env bash
# Runs the samples of the documentation against a scratch server with the demo directory, and checks that each one
# succeeds and prints something.
#
#     tests/samples.sh [LANGUAGE...]    sh, js, py (these three by default), go, php or rb
#
# A sample is a file in docs/developers/samples, or a block of JavaScript or Python in clients/*/README.md. It has the
# literals https://causeway.example, PUBLIC_KEY and PRIVATE_KEY, which are replaced. What is missing is installed: Debian
# packages for Go, PHP and Ruby, and everything else to target/clients. CAUSEWAY names a binary to use instead of building one.
set -euo pipefail

languages=("$@")
[ $# -gt 0 ] || languages=(sh js py)
samples=docs/developers/samples

if [ -z "${CAUSEWAY:-}" ]; then
    cargo build --quiet --workspace --bin causeway
    CAUSEWAY=${CARGO_TARGET_DIR:-$PWD/target}/debug/causeway
fi

. clients/install.sh
for language in "${languages[@]}"; do
    case $language in
        sh) command -v curl >/dev/null || install_debian curl ;;
        js)
            install_node
            install_typescript
            (cd "$tools/typescript" && tsc)
            ;;
        py) install_python ;;
        go) command -v go >/dev/null || install_debian golang-go ;;
        php) command -v php >/dev/null || install_debian php-cli ;;
        rb) command -v ruby >/dev/null || install_debian ruby ;;
        *)
            echo "There are no samples in $language; use sh, js, py, go, php or rb" >&2
            exit 2
            ;;
    esac
done

folder=$(mktemp -d)
stop() {
    if [ -n "${server:-}" ]; then
        kill -KILL "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

# The server keeps its own temporary folder in ours, because it has no time to remove it when it is killed.
mkdir "$folder/server" "$folder/bin" "$folder/blocks"
touch "$folder/server.log"
TMPDIR=$folder/server "$CAUSEWAY" try --listen 127.0.0.1:0 >"$folder/server.log" 2>&1 &
server=$!
until private_key=$(grep -m 1 -oE 'cwsk_[0-9A-Za-z]+' "$folder/server.log"); do
    kill -0 "$server" 2>/dev/null || { cat "$folder/server.log" >&2; exit 1; }
    sleep 0.1
done
public_key=$(grep -m 1 -oE 'cwpk_[0-9A-Za-z]+' "$folder/server.log")
url=$(grep -m 1 -oE 'http://127\.0\.0\.1:[0-9]+' "$folder/server.log")

# The blocks of a document in one language, as files NAME-LINE.ENDING.
extract() {
    awk -v fence="^\`\`\`$2\$" -v base="$folder/blocks/$3" -v ending="$4" '
        file && /^```$/ { close(file); file = ""; next }
        file { print >file }
        $0 ~ fence { file = base "-" NR "." ending }' "$1"
}
extract clients/typescript/README.md js clients-typescript-README js
extract clients/python/README.md python clients-python-README py

# curl as the samples call it, and failing on an error status.
real_curl=$(command -v curl || true)
printf '#!/bin/sh\nexec %s --silent --show-error --fail-with-body "$@"\n' "$real_curl" >"$folder/bin/curl"
chmod +x "$folder/bin/curl"

run() {
    case $1 in
        # This one shows what an error looks like.
        handle-error.sh) bash -euo pipefail "$1" ;;
        *.sh) PATH=$folder/bin:$PATH bash -euo pipefail "$1" ;;
        *.js)
            # A module that finds our package.
            echo '{"type": "module"}' >package.json
            mkdir node_modules
            ln -s "$tools/typescript" node_modules/causeway
            node "$1"
            ;;
        *.py) PYTHONPATH=$root/clients/python/src PYTHONDONTWRITEBYTECODE=1 "$tools/python/bin/python" "$1" ;;
        *.go) GOCACHE=$tools/go-cache GOFLAGS=-mod=mod GO111MODULE=off go run "$1" ;;
        *.php) php "$1" ;;
        *.rb) ruby "$1" ;;
    esac
}
root=$PWD
export -f run
export root tools folder

count=0
failed=0
for language in "${languages[@]}"; do
    for sample in "$samples"/*."$language" "$folder/blocks"/*."$language"; do
        [ -f "$sample" ] || continue
        name=$(basename "$sample")
        mkdir "$folder/run"
        sed -e "s|https://causeway\.example|$url|g" -e "s|PUBLIC_KEY|$public_key|g" -e "s|PRIVATE_KEY|$private_key|g" \
            "$sample" >"$folder/run/$name"
        problem=
        (cd "$folder/run" && timeout 120 bash -c 'run "$1"' run "$name") >"$folder/output" 2>"$folder/errors" ||
            problem="exit code $?"
        [ -n "$problem" ] || [ -s "$folder/output" ] || problem="no output"
        # Not every language treats an error response as an error.
        if [ -z "$problem" ] && [[ $name != handle-error.* ]] && grep -q '"requestId"' "$folder/output"; then
            problem="an error response"
        fi
        if [ -n "$problem" ]; then
            echo "$name: $problem"
            tail -n 30 "$folder/output" "$folder/errors"
            failed=1
        fi
        count=$((count + 1))
        rm -rf "$folder/run"
    done
done

if [ "$count" -eq 0 ]; then
    echo "No samples in ${languages[*]} were found" >&2
    exit 1
fi
echo "$count samples ran (${languages[*]})"
exit "$failed"
