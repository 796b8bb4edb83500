#!/usr/bin/env bash
# Downloads the JSON schemas of the Reconciliation Service API to target, with a validator, once. The story in
# tests/api/openrefine.rs validates every answer of /reconcile with them. They have no license, so they are not kept here.
# Prints the folder, or fails if the site with the schemas cannot be reached.
set -euo pipefail

folder=$PWD/target/reconciliation
site=https://reconciliation-api.github.io/specs/0.2/schemas
if [ ! -f "$folder/complete" ]; then
    mkdir -p "$folder/schemas"
    get() {
        curl --silent --show-error --fail --location --max-time 30 --output "$folder/schemas/$1" "$2"
    }
    for name in manifest type reconciliation-result-batch suggest-entities-response suggest-properties-response \
        suggest-types-response data-extension-response; do
        get "$name.json" "$site/$name.json"
    done
    # The manifest refers to it.
    get swagger.json https://swagger.io/v2/schema.json
    python3 -m venv --clear "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check jsonschema==4.26.0 >&2
    touch "$folder/complete"
fi
echo "$folder"
