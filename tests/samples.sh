#!/usr/bin/env bash
# Runs the samples of the documentation against a scratch server with the demo directory, and checks that each one
# succeeds and prints something.
#
#     tests/samples.sh [LANGUAGE...]    sh, js, py, go, php, rb or rs; by default the first three and those that are installed
#
# A sample is a file in docs/developers/samples, or a block of JavaScript or Python in clients/*/README.md. It has the
# literals https://causeway.example, PUBLIC_KEY and PRIVATE_KEY, which are replaced. The samples named receive-webhook start a
# receiver, which gets a test event and must refuse a forged one; rs is for this sample alone. What is missing is installed: Debian
# packages for Go, PHP and Ruby, and everything else to target/clients. CAUSEWAY names a binary to use instead of building one.
set -euo pipefail

languages=("$@")
if [ $# -eq 0 ]; then
    languages=(sh js py)
    for language in go php rb:ruby rs:cargo; do
        ! command -v "${language#*:}" >/dev/null || languages+=("${language%:*}")
    done
fi
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
        rs) command -v cargo >/dev/null ;;
        *)
            echo "There are no samples in $language; use sh, js, py, go, php, rb or rs" >&2
            exit 2
            ;;
    esac
done

folder=$(mktemp -d)
stop() {
    for process in ${receiver:-} ${server:-}; do
        kill -KILL -- "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
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
            ln -s "$tools/typescript" node_modules/causeway-client
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
        [[ $name != receive-webhook.* ]] || continue
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

# Starts the receiver of a language in the current folder, in place of this shell.
receive() {
    case $1 in
        js)
            echo '{"type": "module"}' >package.json
            mkdir node_modules
            ln -s "$tools/typescript" node_modules/causeway-client
            exec node receive-webhook.js
            ;;
        py) PYTHONPATH=$root/clients/python/src PYTHONDONTWRITEBYTECODE=1 exec "$tools/python/bin/python" receive-webhook.py ;;
        go)
            GOCACHE=$tools/go-cache GO111MODULE=off go build -o receiver receive-webhook.go
            exec ./receiver
            ;;
        php) exec php -S "127.0.0.1:$PORT" receive-webhook.php ;;
        rb) exec ruby receive-webhook.rb ;;
        rs)
            {
                printf '[package]\nname = "receiver"\nedition = "2024"\n[[bin]]\nname = "receiver"\npath = "receive-webhook.rs"\n'
                sed -n 's|^// ||p' receive-webhook.rs | grep -v '^/' | sed -n '/^\[dependencies\]/,$p'
            } >Cargo.toml
            CARGO_TARGET_DIR=$tools/rust-target cargo build --quiet --offline
            exec "$tools/rust-target/debug/receiver"
            ;;
    esac
}

# Waits until the output of the receiver has a text.
await() {
    local waited=0
    until grep -q "$1" "$folder/output"; do
        kill -0 "$receiver" 2>/dev/null && [ "$waited" -lt 1200 ] || return 1
        sleep 0.1
        waited=$((waited + 1))
    done
}

for language in "${languages[@]}"; do
    sample=$samples/receive-webhook.$language
    [ -f "$sample" ] || continue
    mkdir "$folder/run"
    cp "$sample" "$folder/run"
    PORT=$((20000 + RANDOM % 10000))
    endpoint=$(curl --silent --fail-with-body --user "$public_key:$private_key" --json "{\"url\": \"http://127.0.0.1:$PORT/\"}" "$url/v0.2/webhook")
    secret=$(grep -oE 'whsec_[0-9A-Za-z+/=]+' <<<"$endpoint")
    id=$(grep -oE '"id": *"[0-9a-f-]{36}"' <<<"$endpoint" | head -n 1 | grep -oE '[0-9a-f-]{36}')
    : >"$folder/output"
    (cd "$folder/run" && PORT=$PORT WEBHOOK_SECRET=$secret receive "$language") >"$folder/output" 2>"$folder/errors" &
    receiver=$!
    problem=
    forge() {
        curl --silent --output /dev/null --write-out '%{http_code}' --header "webhook-id: x" \
            --header "webhook-timestamp: $(date +%s)" --header "webhook-signature: v1,AAAA" --data '{"type": "ping"}' "http://127.0.0.1:$PORT/"
    }
    waited=0
    until [ "$(forge)" = 400 ]; do
        if ! kill -0 "$receiver" 2>/dev/null || [ "$waited" -ge 1200 ]; then
            problem="a forged event was not refused with status 400"
            break
        fi
        sleep 0.1
        waited=$((waited + 1))
    done
    if [ -z "$problem" ]; then
        curl --silent --fail-with-body --output /dev/null --user "$public_key:$private_key" --request POST "$url/v0.2/webhook/$id/test"
        await '^ping evt_' || problem="the test event did not arrive"
    fi
    kill -KILL "$receiver" 2>/dev/null || true
    wait "$receiver" 2>/dev/null || true
    curl --silent --output /dev/null --user "$public_key:$private_key" --request DELETE "$url/v0.2/webhook/$id"
    if [ -n "$problem" ]; then
        echo "receive-webhook.$language: $problem"
        tail -n 30 "$folder/output" "$folder/errors"
        failed=1
    fi
    count=$((count + 1))
    rm -rf "$folder/run"
done

if [ "$count" -eq 0 ]; then
    echo "No samples in ${languages[*]} were found" >&2
    exit 1
fi
echo "$count samples ran (${languages[*]})"
exit "$failed"
