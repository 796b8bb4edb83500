#!/usr/bin/env bash
# Lighthouse (mobile) on the home page, a profile and a fundraiser of a server with the demo directory: prints the scores,
# exits with 1 where one is under 95. The reports stay in target/lighthouse. CAUSEWAY names another binary.
set -euo pipefail

causeway=${CAUSEWAY:-target/release/causeway}
bound=95
place=$PWD/target/lighthouse
if [ ! -d "$place/node_modules/lighthouse" ]; then
    npm install --prefix "$place" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error lighthouse@12.8.2
fi

folder=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

listen=127.0.0.1:${PORT:-8471}
export CAUSEWAY_DATA=$folder/data CAUSEWAY_LISTEN=$listen CAUSEWAY_METRICS_LISTEN=off
"$causeway" serve >"$folder/log" 2>&1 &
server=$!
for _ in $(seq 300); do
    curl -fs "http://$listen/readyz" >/dev/null && break
    sleep 0.2
done

key() { "$causeway" key create --account demo --kind "$1" --json | sed -E 's/.*"key": ?"([^"]+)".*/\1/'; }
public=$(key public)
red_cross=$(curl -fs "http://$listen/v0.2/nonprofit/530196605?apiKey=$public" | sed -E 's/.*"nonprofit":\{"id":"([^"]+)".*/\1/')
made=$(curl -fs -u "$public:$(key private)" -H 'Content-Type: application/json' "http://$listen/v0.2/fundraiser" \
    -d "{\"nonprofitId\":\"$red_cross\",\"title\":\"A run along the river\",\"description\":\"We run along the river.\",\"goal\":500000,\"raisedOffline\":120000}")
slug=$(sed -E 's/.*"slug": ?"([^"]+)".*/\1/' <<<"$made")

failed=0
printf '| %-10s | performance | accessibility | best practices | SEO |\n|:-----------|------------:|--------------:|---------------:|----:|\n' page
for page in "home /" "profile /american-red-cross" "fundraiser /american-red-cross/f/$slug"; do
    name=${page% *}
    CHROME_PATH=$(command -v chromium) node "$place/node_modules/lighthouse/cli/index.js" "http://$listen${page#* }" --quiet \
        --output=json --output=html --output-path="$place/$name" \
        --chrome-flags="--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --disable-component-update --disable-sync --no-first-run --user-data-dir=$folder/chromium"
    node -e '
        const [file, name, bound] = process.argv.slice(1);
        const { categories } = JSON.parse(require("fs").readFileSync(file));
        const [speed, access, practices, seo] = ["performance", "accessibility", "best-practices", "seo"].map((id) => Math.round(categories[id].score * 100));
        console.log(`| ${name.padEnd(10)} | ${String(speed).padStart(11)} | ${String(access).padStart(13)} | ${String(practices).padStart(14)} | ${String(seo).padStart(3)} |`);
        process.exit(Math.min(speed, access, practices, seo) < bound ? 1 : 0);
    ' "$place/$name.report.json" "$name" "$bound" || failed=1
done
exit $failed
