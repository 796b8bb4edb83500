#!/usr/bin/env bash
# Starts what the tests need on free ports and in a temporary folder, runs the given command, stops it all again.
# Installs Debian's packages by name, only where something is missing. The tests make a database for each story, so
# PostgreSQL does not wait for the disk unless POSTGRES_OPTIONS says otherwise.
set -euo pipefail

install() {
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "$@"
}

find_postgres() {
    local found
    found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
    [ -n "$found" ] && [ -x "$found/initdb" ] && echo "$found"
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' 2>/dev/null ||
        shuf -i 20000-45000 -n 1
}

# Stories make hundreds of small databases: in memory, where there is room, nobody waits for the disk.
room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
if [ -z "${TMPDIR:-}${POSTGRES_OPTIONS+disk}" ] && [ -w /dev/shm ] && [ "${room:-0}" -gt 2000000 ]; then
    export TMPDIR=/dev/shm
fi

# The browser tests: Chromium with its driver, and axe-core, which is fetched once and kept under target.
{ command -v chromium && command -v chromedriver; } >/dev/null || install chromium chromium-driver
axe=$PWD/target/axe/node_modules/axe-core/axe.min.js
if [ ! -f "$axe" ]; then
    command -v npm >/dev/null || install npm
    npm install --prefix target/axe --no-save --no-audit --no-fund --ignore-scripts --loglevel=error axe-core@4.14.0
fi
export CAUSEWAY_TEST_AXE=$axe

# The tests of failing disks and lost power watch the calls of the server.
command -v strace >/dev/null || install strace

bin=$(find_postgres) || { install postgresql; bin=$(find_postgres); }
folder=$(mktemp -d)
# PostgreSQL does not run as root.
as=()
if [ "$(id -u)" -eq 0 ]; then
    as=(runuser -u postgres --)
    chown postgres "$folder"
fi
port=$(free_port)

stop() {
    "${as[@]}" "$bin/pg_ctl" -D "$folder/postgres" -m immediate -s stop >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

(cd "$folder" && "${as[@]}" "$bin/initdb" -D "$folder/postgres" -U causeway --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null)
(cd "$folder" && "${as[@]}" "$bin/pg_ctl" -D "$folder/postgres" -s -w -l "$folder/postgres.log" \
    -o "-p $port ${POSTGRES_OPTIONS--c fsync=off} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=300 -c max_wal_size=4GB" start)

export CAUSEWAY_TEST_POSTGRES_URL="postgres://causeway@127.0.0.1:$port/postgres"
"$@"
