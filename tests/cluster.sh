#!/usr/bin/env bash
# Runs a command with everything that several servers share, and stops it afterwards: PostgreSQL with a synchronous
# standby under Patroni and etcd, Redis, an S3-compatible blob store (moto), and HAProxy with the examples in deploy, in
# front of three servers, which the command starts itself. Everything listens on free ports of 127.0.0.1 and lives in a
# temporary folder. Missing Debian packages are installed by name, and moto to target.
#
#     tests/cluster.sh causeway-load cluster
#
# The command finds in CLUSTER_FOLDER, for each process, NAME.pid, NAME.log and NAME.run, a script that starts it again.
set -euo pipefail

moto_version=5.2.5
moto=$PWD/target/moto

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

missing=()
find_postgres >/dev/null || missing+=(postgresql)
[ -x /usr/bin/patroni ] || missing+=(patroni python3-etcd)
command -v etcd >/dev/null || missing+=(etcd-server)
[ -x /usr/sbin/haproxy ] || missing+=(haproxy)
redis=$(command -v valkey-server || command -v redis-server) || missing+=(redis-server)
command -v curl >/dev/null || missing+=(curl)
[ -x "$moto/bin/moto_server" ] || python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
[ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
redis=${redis:-$(command -v redis-server)}
postgres=$(find_postgres)
if [ "$(cat "$moto/version" 2>/dev/null)" != "$moto_version" ]; then
    python3 -m venv --clear "$moto"
    "$moto/bin/pip" install --quiet --disable-pip-version-check "moto[s3]==$moto_version" flask flask-cors || {
        echo "moto $moto_version could not be installed from PyPI; run this again where PyPI can be reached" >&2
        exit 1
    }
    echo "$moto_version" >"$moto/version"
fi

folder=$(mktemp -d)
export HOME=$folder
# PostgreSQL does not run as root. setpriv replaces itself, so that the process ID is the one of the program.
as=()
if [ "$(id -u)" -eq 0 ]; then
    as=(setpriv --reuid=postgres --regid=postgres --init-groups --)
    chmod 755 "$folder"
    install_folder() { command install -d -o postgres -g postgres -m 700 "$1"; }
else
    install_folder() { command install -d -m 700 "$1"; }
fi

# Patroni stops its PostgreSQL on SIGTERM; what is left is killed with the processes that work in the folder.
stop() {
    local status=$1 signal file process
    trap '' INT TERM HUP
    if [ -n "${command:-}" ]; then
        kill -TERM "$command" 2>/dev/null
        wait "$command"
    fi
    for signal in TERM KILL; do
        for file in "$folder"/*.pid; do
            [ -f "$file" ] && kill "-$signal" "$(cat "$file")" 2>/dev/null
        done
        if [ $signal = TERM ]; then
            for _ in $(seq 50); do
                is_running || break
                sleep 0.1
            done
        fi
    done
    for process in /proc/[0-9]*; do
        case $(readlink "$process/cwd") in
            "$folder"/*) kill -KILL "${process#/proc/}" 2>/dev/null ;;
        esac
    done
    if [ "$status" -ne 0 ] && [ -n "${CLUSTER_LOGS:-}" ]; then
        mkdir -p "$CLUSTER_LOGS"
        cp "$folder"/*.log "$CLUSTER_LOGS"
    fi
    rm -rf "$folder"
    exit "$status"
}
is_running() {
    local file
    for file in "$folder"/*.pid; do
        [ -f "$file" ] && kill -0 "$(cat "$file")" 2>/dev/null && return
    done
    return 1
}
trap 'status=$?; set +e; stop $status' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Prints ports outside the range from which the system assigns them, so that they stay free while a process is down.
free_ports() {
    python3 - "$1" <<'PYTHON'
import random, socket, sys
found = []
for port in random.sample(range(10000, 30000), 2000):
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            continue
    found.append(str(port))
    if len(found) == int(sys.argv[1]):
        break
print(*found)
PYTHON
}

# Starts a process, and writes the script that starts it again. NAME.pid is the process itself.
start() {
    local name=$1
    shift
    {
        echo '#!/bin/sh'
        echo "export HOME='$folder' AWS_ACCESS_KEY_ID=causeway AWS_SECRET_ACCESS_KEY=causeway"
        echo "echo \$\$ >'$folder/$name.pid'"
        printf 'exec'
        printf " '%s'" "$@"
        echo " </dev/null >>'$folder/$name.log' 2>&1"
    } >"$folder/$name.run"
    # In a session of its own, so that Ctrl-C reaches only this script and the command.
    setsid sh "$folder/$name.run" &
    disown
}

# Waits until a command succeeds, for at most a minute, and shows the logs if it never does.
await() {
    local what=$1
    shift
    for _ in $(seq 600); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.1
    done
    tail -n 20 "$folder"/*.log >&2
    echo "$what did not start; its log is above" >&2
    return 1
}

read -r etcd_port peer_port postgres_1 postgres_2 rest_1 rest_2 redis_port moto_port balancer_port database_port \
    status_port strict_port server_1 server_2 server_3 <<<"$(free_ports 15)"
echo "starting etcd, Patroni, PostgreSQL, Redis, moto and HAProxy in $folder" >&2

install_folder "$folder/etcd"
start etcd "${as[@]}" "$(command -v etcd)" --name causeway --data-dir "$folder/etcd" --unsafe-no-fsync \
    --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
    --listen-peer-urls "http://127.0.0.1:$peer_port" --initial-advertise-peer-urls "http://127.0.0.1:$peer_port" \
    --initial-cluster "causeway=http://127.0.0.1:$peer_port"

mkdir "$folder/redis"
start redis "$redis" --port "$redis_port" --bind 127.0.0.1 --dir "$folder/redis" --save '' --appendonly yes

start moto "$moto/bin/moto_server" -H 127.0.0.1 -p "$moto_port"

for number in 1 2; do
    rest=rest_$number port=postgres_$number
    install_folder "$folder/postgres-$number"
    cat >"$folder/patroni-$number.yml" <<YAML
scope: causeway
name: postgres-$number
restapi: {listen: "127.0.0.1:${!rest}", connect_address: "127.0.0.1:${!rest}"}
etcd3: {hosts: "127.0.0.1:$etcd_port"}
bootstrap:
  dcs:
    # As in deploy/patroni, but not strict: with two servers, commits would wait for the lost one.
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 300, max_wal_size: 4GB}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, data-checksums]
postgresql:
  listen: "127.0.0.1:${!port}"
  connect_address: "127.0.0.1:${!port}"
  data_dir: $folder/postgres-$number/data
  bin_dir: $postgres
  pgpass: $folder/postgres-$number/pgpass
  parameters: {unix_socket_directories: ""}
  authentication:
    superuser: {username: causeway, password: causeway}
    replication: {username: replicator, password: replicator}
    rewind: {username: causeway, password: causeway}
  pg_hba:
    - host all all 127.0.0.1/32 trust
    - host replication all 127.0.0.1/32 trust
YAML
    start "patroni-$number" "${as[@]}" /usr/bin/patroni "$folder/patroni-$number.yml"
done

# Writes a copy of an example with the addresses of this run. Each expression must match.
adapt() {
    local example=$1 copy=$2 expression
    shift 2
    cp "$example" "$copy"
    for expression; do
        sed "$expression" "$copy" >"$copy.new"
        if cmp -s "$copy" "$copy.new"; then
            echo "$example has no line for $expression" >&2
            return 1
        fi
        mv "$copy.new" "$copy"
    done
}

adapt deploy/haproxy.cfg "$folder/haproxy.cfg" \
    "s/bind :8080/bind 127.0.0.1:$balancer_port/" "s/bind 127.0.0.1:8404/bind 127.0.0.1:$status_port/" \
    "s/ causeway-1:8080/ 127.0.0.1:$server_1/" "s/ causeway-2:8080/ 127.0.0.1:$server_2/" \
    "s/ causeway-3:8080/ 127.0.0.1:$server_3/"
start haproxy /usr/sbin/haproxy -db -f "$folder/haproxy.cfg"

adapt deploy/patroni/haproxy.cfg "$folder/database.cfg" \
    "s/bind :5432/bind 127.0.0.1:$database_port/" "s/server db-1 .*/server db-1 127.0.0.1:$postgres_1 port $rest_1/" \
    "s/server db-2 .*/server db-2 127.0.0.1:$postgres_2 port $rest_2/" "/server db-3/d"
start database /usr/sbin/haproxy -db -f "$folder/database.cfg"

# A balancer that repeats no request: a server has to answer everything until it is out of the rotation.
cat >"$folder/strict.cfg" <<HAPROXY
defaults
    mode http
    timeout connect 2s
    timeout client 60s
    timeout server 40s
listen strict
    bind 127.0.0.1:$strict_port
    balance roundrobin
    retries 0
    option httpchk GET /readyz
    http-check send hdr Host causeway.test
    http-check expect status 200
    default-server check inter 1s fall 2 rise 2
    server 1 127.0.0.1:$server_1
    server 2 127.0.0.1:$server_2
    server 3 127.0.0.1:$server_3
HAPROXY
start strict /usr/sbin/haproxy -db -f "$folder/strict.cfg"

await etcd curl -fs "http://127.0.0.1:$etcd_port/health"
await "the blob store" curl -s "http://127.0.0.1:$moto_port/"
curl -fs -X PUT "http://127.0.0.1:$moto_port/causeway" -o /dev/null
await "PostgreSQL" "$postgres/psql" "postgres://causeway@127.0.0.1:$database_port/postgres" -c 'select 1'
"$postgres/createdb" --maintenance-db "postgres://causeway@127.0.0.1:$database_port/postgres" causeway
synchronous() {
    curl -fs "http://127.0.0.1:$rest_1/synchronous" || curl -fs "http://127.0.0.1:$rest_2/synchronous"
}
await "the synchronous standby" synchronous

export PATH=$postgres:$PATH
export AWS_ACCESS_KEY_ID=causeway AWS_SECRET_ACCESS_KEY=causeway
export CLUSTER_FOLDER=$folder
export CLUSTER_DATABASE_URL="postgres://causeway@127.0.0.1:$database_port/causeway"
export CLUSTER_REDIS_URL="redis://127.0.0.1:$redis_port"
export CLUSTER_BLOBS_URL="s3://causeway/cluster?endpoint=http://127.0.0.1:$moto_port&region=us-east-1"
export CLUSTER_BLOBS_ADDRESS="127.0.0.1:$moto_port"
export CLUSTER_PATRONI="127.0.0.1:$rest_1,127.0.0.1:$rest_2"
export CLUSTER_BALANCER="127.0.0.1:$balancer_port"
export CLUSTER_STRICT_BALANCER="127.0.0.1:$strict_port"
export CLUSTER_SERVERS="127.0.0.1:$server_1,127.0.0.1:$server_2,127.0.0.1:$server_3"
# In the background, because the shell handles a signal only when no command runs in the foreground.
"$@" &
command=$!
wait "$command"
