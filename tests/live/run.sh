#!/usr/bin/env bash
# The live test: the built binary against a real model server, in every way of asking for JSON and over both APIs.
# `tests/live/run.sh`; AUDITOR_BIN names a binary that is built already. Exit code 77: skipped, the model cannot be had.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
if [ -z "${AUDITOR_BIN:-}" ]; then
  cargo build --quiet
  AUDITOR_BIN=${CARGO_TARGET_DIR:-target}/debug/auditor
fi
exec "$here/serve.sh" python3 "$here/check.py" "$AUDITOR_BIN"
