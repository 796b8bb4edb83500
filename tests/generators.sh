#!/usr/bin/env bash
# Generates clients in six languages from openapi.json as it is with openapi-generator, which validates the file first. Fails
# on an error, and if two groups of functions have the same file. Takes minutes. Needs Java 11 or later, and installs the generator from PyPI to target/generators.
#
#     tests/generators.sh [FILE]    another description than openapi.json
set -euo pipefail

file=$(realpath "${1:-openapi.json}")
generators=(typescript-fetch python go java ruby php)
version=7.26.0
tools=$PWD/target/generators

command -v java >/dev/null || {
    echo "Install Java 11 or later, such as default-jre-headless" >&2
    exit 1
}
jar=$tools/openapi_generator_cli/openapi-generator.jar
if [ "$(cat "$tools/version" 2>/dev/null)" != "$version" ]; then
    rm -rf "$tools"
    python3 -m pip install --quiet --no-compile --no-deps --disable-pip-version-check --target "$tools" "openapi-generator-cli==$version"
    echo "$version" >"$tools/version"
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
for generator in "${generators[@]}"; do
    if ! java -jar "$jar" generate --input-spec "$file" --generator-name "$generator" --output "$out/$generator" >"$out/log" 2>&1 ||
        grep -E ' ERROR |FILEPATH_COLLISION' "$out/log"; then
        echo "$generator: failed"
        grep -v " INFO " "$out/log" | head -n 20
        failed=1
    else
        echo "$generator: $(find "$out/$generator" -type f | wc -l) files"
    fi
done
exit "$failed"
