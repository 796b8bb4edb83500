#!/usr/bin/env bash
# Lints openapi.json with the recommended rules of Redocly. Errors and warnings both fail.
set -euo pipefail

folder=target/redocly
if [ ! -x "$folder/node_modules/.bin/redocly" ]; then
    npm install --prefix "$folder" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error @redocly/cli@2.73.0
fi
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
"$folder/node_modules/.bin/redocly" lint --extends recommended-strict openapi.json
