#!/usr/bin/env bash
# Runs a command with the services that the tests need: starts PostgreSQL, Redis and an S3-compatible server (Moto) on
# free ports with temporary data, and stops them afterwards. Missing Debian packages are installed by name. PostgreSQL
# trades durability for speed, because the tests create a database for each story; POSTGRES_OPTIONS replaces these options.
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

# Stories create hundreds of small databases, which is faster in memory.
available=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)
if [ -z "${TMPDIR:-}${POSTGRES_OPTIONS+disk}" ] && [ -w /dev/shm ] && [ "${available:-0}" -gt 2000000 ]; then
    export TMPDIR=/dev/shm
fi

# The browser tests need Chromium with its driver, and axe-core, which is downloaded once to target. NO_BROWSER=1 omits them.
if [ -z "${NO_BROWSER:-}" ]; then
    { command -v chromium-headless-shell && command -v chromedriver; } >/dev/null ||
        install chromium-headless-shell chromium-driver
    axe=$PWD/target/axe/node_modules/axe-core/axe.min.js
    if [ ! -f "$axe" ]; then
        command -v npm >/dev/null || install npm
        npm install --prefix target/axe --no-save --no-audit --no-fund --ignore-scripts --loglevel=error axe-core@4.14.0
    fi
    export CAUSEWAY_TEST_AXE=$axe
fi

command -v curl >/dev/null || install curl

# The tests of failing disks and power losses trace the system calls of the server.
command -v strace >/dev/null || install strace

command -v redis-server >/dev/null || install redis-server
# The S3-compatible server, which is installed once to target.
moto_version=5.2.5
moto=$PWD/target/moto
if [ "$(cat "$moto/version" 2>/dev/null)" != "$moto_version" ]; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || install python3 python3-venv
    python3 -m venv --clear "$moto"
    "$moto/bin/pip" install --quiet --no-compile --disable-pip-version-check "moto[s3]==$moto_version" flask flask-cors
    echo "$moto_version" >"$moto/version"
fi
# Two accounting programs, which check the exported books independently.
command -v hledger >/dev/null || install hledger
beancount_version=3.2.3
beancount=$PWD/target/beancount
if [ "$(cat "$beancount/version" 2>/dev/null)" != "$beancount_version" ]; then
    python3 -c 'import ensurepip, venv' 2>/dev/null || install python3 python3-venv
    python3 -m venv --clear "$beancount"
    "$beancount/bin/pip" install --quiet --no-compile --disable-pip-version-check "beancount==$beancount_version"
    echo "$beancount_version" >"$beancount/version"
fi
export CAUSEWAY_TEST_BEANCOUNT=$beancount/bin
bin=$(find_postgres) || { install postgresql; bin=$(find_postgres); }
folder=$(mktemp -d)
s3_log=$(mktemp)
# PostgreSQL does not run as root.
as=()
if [ "$(id -u)" -eq 0 ]; then
    as=(runuser -u postgres --)
    chown postgres "$folder"
fi

stop() {
    [ -z "${s3:-}" ] || kill "$s3" 2>/dev/null || true
    "${as[@]}" "$bin/pg_ctl" -D "$folder/postgres" -m immediate -s stop >/dev/null 2>&1 || true
    [ -z "${redis:-}" ] || { kill "$redis" && wait "$redis"; } 2>/dev/null || true
    rm -rf "$folder" "$s3_log"
}
trap stop EXIT
trap 'exit 130' INT TERM

# Tries ports outside the range from which the system assigns them, so that only another server can be in the way.
start() {
    for _ in 1 2 3 4 5; do
        port=$(shuf -i 10000-30000 -n 1)
        "${as[@]}" "$bin/pg_ctl" -D "$folder/postgres" -s -w -t 600 -l "$folder/postgres.log" \
            -o "-p $port ${POSTGRES_OPTIONS--c fsync=off -c full_page_writes=off -c autovacuum=off} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=300 -c max_wal_size=4GB" \
            start && return
    done
    cat "$folder/postgres.log" >&2
    return 1
}

# Starts Redis without persistence on a free port.
start_redis() {
    for _ in 1 2 3 4 5; do
        redis_port=$(shuf -i 10000-30000 -n 1)
        redis-server --port "$redis_port" --bind 127.0.0.1 --save "" --appendonly no --dir "$folder" >"$folder/redis.log" &
        redis=$!
        while kill -0 "$redis" 2>/dev/null; do
            grep -q "Ready to accept connections" "$folder/redis.log" && return
            sleep 0.1
        done
    done
    cat "$folder/redis.log" >&2
    return 1
}

# In a folder that the user postgres may read.
pushd "$folder" >/dev/null
"${as[@]}" "$bin/initdb" -D "$folder/postgres" -U causeway --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null
start
popd >/dev/null

start_redis
export CAUSEWAY_TEST_REDIS_URL="redis://127.0.0.1:$redis_port"
# The server chooses a free port and prints its URL.
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
"$moto/bin/moto_server" -H 127.0.0.1 -p 0 >"$s3_log" 2>&1 &
s3=$!
until endpoint=$(grep -m 1 -oE 'http://127\.0\.0\.1:[0-9]+' "$s3_log"); do
    kill -0 "$s3" 2>/dev/null || { cat "$s3_log" >&2; exit 1; }
    sleep 0.1
done
curl --silent --show-error --fail --output /dev/null --aws-sigv4 aws:amz:us-east-1:s3 --user test:test \
    --request PUT "$endpoint/causeway-tests"
export CAUSEWAY_TEST_S3_URL="s3://causeway-tests?endpoint=$endpoint&region=us-east-1"

export CAUSEWAY_TEST_POSTGRES_URL="postgres://causeway@127.0.0.1:$port/postgres"
"$@"
