#!/usr/bin/env bash
# Checks the files in deploy/ with the tools that read them. With --rules, only the alert rules, the dashboard and the
# figures of docs/scale.md, which need nothing but promtool and Python; make test includes that. Missing tools are
# installed by the name of their Debian package, or downloaded to target.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$PWD/target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

install() {
    as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends "$@"
}

step() {
    echo "deploy: $*"
}

# The package of Prometheus would start a server, and of its files only promtool is needed.
promtool=$(command -v promtool || echo "$target/promtool")
if [ ! -x "$promtool" ]; then
    (cd "$work" && chmod 755 . && { apt-get download -qq prometheus || { as_root apt-get update -qq && apt-get download -qq prometheus; }; })
    dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb | tar -x -C "$work" ./usr/bin/promtool
    mkdir -p "$target"
    mv "$work/usr/bin/promtool" "$promtool"
fi

step "alert rules"
"$promtool" check rules deploy/prometheus/alerts.yml
"$promtool" check config deploy/prometheus/prometheus.yml
(cd deploy/prometheus && "$promtool" test rules alerts.test.yml)

step "queries of the dashboard"
python3 - deploy/grafana/dashboard.json > "$work/dashboard.yml" <<'PYTHON'
import json
import sys

dashboard = json.load(open(sys.argv[1]))
panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
ids = [panel["id"] for panel in dashboard["panels"]]
assert len(ids) == len(set(ids)), "two panels have the same ID"
rules = []
for panel in panels:
    assert panel["title"] and panel["targets"], panel
    for target in panel["targets"]:
        rules.append({"record": f"dashboard:panel_{panel['id']}_{target['refId']}",
                      "expr": target["expr"].replace("$instance", ".*")})
assert len(rules) >= len(panels) > 20
# JSON is YAML.
print(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
PYTHON
"$promtool" check rules "$work/dashboard.yml"

step "figures of docs/scale.md"
load/scale.py --check docs/scale.md

if [ "${1:-}" = --rules ]; then
    exit
fi

step "HAProxy"
command -v haproxy >/dev/null || install haproxy
for config in deploy/haproxy.cfg deploy/patroni/haproxy.cfg; do
    haproxy -c -q -f "$config"
done

# The log shows neither IDs of receipts nor queries.
receipt=0190f5a0-0000-7000-8000-000000000002
read -r balancer status <<<"$(python3 -c 'import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(socket.getsockname()[1] for socket in sockets))')"
sed -e "s/bind :8080/bind 127.0.0.1:$balancer/" -e "s/bind 127.0.0.1:8404/bind 127.0.0.1:$status/" \
    deploy/haproxy.cfg > "$work/haproxy.cfg"
haproxy -db -f "$work/haproxy.cfg" > "$work/haproxy.log" 2>/dev/null &
haproxy=$!
for _ in $(seq 50); do
    curl -s -o /dev/null "http://127.0.0.1:$balancer/donations/$receipt?token=secret" && break
    sleep 0.1
done
kill "$haproxy"
wait "$haproxy" || true
grep -q "GET /donations/- HTTP" "$work/haproxy.log"
if grep -e "$receipt" -e secret "$work/haproxy.log"; then
    exit 1
fi

step "Patroni"
command -v patroni >/dev/null || install patroni
# It also tries to connect to etcd, and looks for the programs of the installed PostgreSQL.
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)
sed "s#bin_dir: .*#bin_dir: $bin#" deploy/patroni/patroni.yml > "$work/patroni.yml"
if ! patroni --validate-config "$work/patroni.yml" > "$work/patroni.log" 2>&1 \
    && grep -v "is not reachable" "$work/patroni.log"; then
    exit 1
fi

step "Compose"
if docker compose version >/dev/null 2>&1; then
    compose=(docker compose)
else
    command -v docker-compose >/dev/null || install docker-compose
    compose=(docker-compose)
fi
POSTGRES_PASSWORD=x STORAGE_KEY=x "${compose[@]}" --project-directory deploy -f deploy/compose.yml config -q

step "Kubernetes"
python=$target/kubernetes-validate/bin
if [ ! -x "$python/kubernetes-validate" ]; then
    python3 -m venv "$target/kubernetes-validate"
    "$python/pip" install --quiet kubernetes-validate==1.37.0
fi
manifests=()
for manifest in deploy/kubernetes/*.yaml; do
    [ "$(basename "$manifest")" = kustomization.yaml ] || manifests+=("$manifest")
done
"$python/kubernetes-validate" --strict --no-warn --quiet "${manifests[@]}"
if command -v kubectl >/dev/null; then
    kubectl kustomize deploy/kubernetes > "$work/kubernetes.yml"
    "$python/kubernetes-validate" --strict --no-warn --quiet "$work/kubernetes.yml"
fi

step "everything is valid"
