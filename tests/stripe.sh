#!/usr/bin/env bash
# Holds the Stripe simulator to the truth: Stripe's command-line client triggers events on it, Stripe's SDKs for Node and
# Python use it and verify its signatures, and its answers compile against the types of the SDK.
# What is missing is installed to target/stripe. SIMULATOR names a binary to use instead of building one.
set -euo pipefail

tools=$PWD/target/stripe
packages=(stripe@23.1.0 @stripe/cli@1.52.0 typescript@7.0.2 @types/node@20.19.25)
python_packages=(stripe==16.1.0)
# Scripts of the command-line client, and with each the event that it must cause.
scripts=(
    charge.captured charge.dispute.closed charge.dispute.created charge.failed charge.refunded charge.succeeded
    checkout.session.completed checkout.session.expired customer.subscription.created customer.subscription.deleted
    customer.subscription.paused customer.subscription.updated invoice.paid invoice.payment_action_required
    invoice.payment_failed payment_intent.payment_failed payment_intent.processing payment_intent.succeeded payout.created
    test_helpers.test_clock.ready
)

if [ "$(cat "$tools/installed" 2>/dev/null)" != "${packages[*]} ${python_packages[*]}" ]; then
    mkdir -p "$tools"
    npm install --prefix "$tools" --no-audit --no-fund --ignore-scripts --loglevel=error "${packages[@]}"
    python3 -m venv --clear "$tools/python"
    "$tools/python/bin/pip" install --quiet --no-compile --disable-pip-version-check "${python_packages[@]}"
    echo "${packages[*]} ${python_packages[*]}" >"$tools/installed"
fi
if [ -z "${SIMULATOR:-}" ]; then
    cargo build --quiet --workspace --bin stripe-simulator
    SIMULATOR=${CARGO_TARGET_DIR:-$PWD/target}/debug/stripe-simulator
fi

# The types are checked while the command-line client runs, which mostly waits.
node tests/stripe/check.mjs "$SIMULATOR" "$tools"
(cd "$tools" && node_modules/.bin/tsc --strict --noEmit --skipLibCheck --module nodenext --target es2022 answers.ts) &
types=$!

log=$(mktemp)
"$SIMULATOR" --listen 127.0.0.1:0 >"$log" &
simulator=$!
trap 'kill "$simulator"; rm -f "$log"' EXIT
until url=$(grep -o 'http:.*' "$log"); do sleep 0.05; done

stripe=$(echo "$tools"/node_modules/@stripe/cli-linux-*/bin/stripe)
key=sk_test_check_0123456789
for event in "${scripts[@]}"; do
    "$stripe" trigger "$event" --api-key "$key" --api-base "$url" >"$log.trigger" 2>&1 || {
        cat "$log.trigger" >&2
        echo "the script for $event failed" >&2
        exit 1
    }
    curl --silent --user "$key:" "$url/v1/events?type=$event&limit=1" | grep -q "\"type\": \"$event\"" || {
        echo "the script for $event ended without that event" >&2
        exit 1
    }
done
rm -f "$log.trigger"
echo "${#scripts[@]} scripts of the command-line client"

"$tools/python/bin/python" tests/stripe/check.py "$url" "$tools/events.json"
wait "$types"
echo "all answers have the types of the SDK"
