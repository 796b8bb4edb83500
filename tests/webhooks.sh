#!/usr/bin/env bash
# shellcheck disable=SC2154 # clients/install.sh sets the variable tools.
# Sends events to a receiver before, during and after a rotation of the secret, and verifies them with the packages that
# receivers use: standardwebhooks and svix of npm, and standardwebhooks of PyPI. Installs what is missing to target/clients.
# CAUSEWAY names a binary to use instead of building one.
set -euo pipefail

if [ -z "${CAUSEWAY:-}" ]; then
    cargo build --quiet --workspace --bin causeway
    CAUSEWAY=${CARGO_TARGET_DIR:-$PWD/target}/debug/causeway
fi

. clients/install.sh
install_node
install_python
packages=(standardwebhooks@1.1.1 svix@2.5.0)
if [ "$(cat "$tools/webhooks/installed" 2>/dev/null)" != "${packages[*]}" ]; then
    npm install --prefix "$tools/webhooks" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error "${packages[@]}"
    "$tools/python/bin/pip" install --quiet --no-compile --disable-pip-version-check standardwebhooks==1.1.0
    echo "${packages[*]}" >"$tools/webhooks/installed"
fi

folder=$(mktemp -d)
receiver='' server=''
stop() {
    kill -KILL $receiver $server 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

node tests/webhooks/receiver.mjs >"$folder/received" 2>"$folder/port" &
receiver=$!
until [ -s "$folder/port" ]; do sleep 0.05; done
url=http://127.0.0.1:$(cat "$folder/port")/hook

for name in $(env | sed -n 's/^\(CAUSEWAY_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export CAUSEWAY_DATA=$folder/data CAUSEWAY_WEBHOOKS__ALLOW_PRIVATE=true CAUSEWAY_METRICS_LISTEN=off
"$CAUSEWAY" serve --empty --listen 127.0.0.1:0 >"$folder/server.log" 2>&1 &
server=$!
until address=$(grep -m 1 -oE 'http://127[.0-9]+:[0-9]+' "$folder/server.log"); do
    kill -0 "$server" 2>/dev/null || { cat "$folder/server.log" >&2; exit 1; }
    sleep 0.1
done

field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
"$CAUSEWAY" account create ada --json >/dev/null
public=$("$CAUSEWAY" key create --account ada --kind public --json | field key)
private=$("$CAUSEWAY" key create --account ada --kind private --json | field key)
created=$("$CAUSEWAY" webhook create --account ada --url "$url" --json)
id=$(field id <<<"$created")
old=$(field secret <<<"$created")

# Sends a test event, and adds the secrets that verify it and those that do not to what the receiver got.
send() {
    local before
    before=$(wc -l <"$folder/received")
    curl --silent --fail --user "$public:$private" --request POST "$address/v0.2/webhook/$id/test" >/dev/null
    until [ "$(wc -l <"$folder/received")" -gt "$before" ]; do sleep 0.05; done
    tail -n 1 "$folder/received" | sed "s|}\$|,\"valid\":[$1],\"invalid\":[$2]}|" >>"$folder/messages"
}

other=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
send "\"$old\"" "\"$other\""
new=$("$CAUSEWAY" webhook rotate "$id" --account ada --json | field secret)
send "\"$old\",\"$new\"" "\"$other\""
newest=$("$CAUSEWAY" webhook rotate "$id" --account ada --json | field secret)
send "\"$new\",\"$newest\"" "\"$old\",\"$other\""

PACKAGES=$tools/webhooks/node_modules node tests/webhooks/verify.mjs <"$folder/messages"
"$tools/python/bin/python" tests/webhooks/verify.py <"$folder/messages"
