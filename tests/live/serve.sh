#!/usr/bin/env bash
# Runs a command against a real, small chat model on this machine:
#
#   tests/live/serve.sh COMMAND [ARGUMENT...]
#
# Everything comes from PyPI, pinned by hash (server.req, model.req; 127 MB the first time), and is kept in
# AUDITOR_LIVE_CACHE (default ~/.cache/auditor-live). The command gets OPENAI_BASE_URL, OPENAI_API_KEY and
# AUDITOR_MODEL. The server listens on a free loopback port and ends with this script, however that ends.
# Exit code: the command's; 77 when the packages cannot be had; 70 when they are not the pinned ones or the server
# does not come up.
# The model has 135 million parameters. It speaks the protocol; it cannot judge anything.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${AUDITOR_LIVE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/auditor-live}
context=${AUDITOR_LIVE_CONTEXT:-8192}
name=smollm2-135m-instruct-q4_1
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
weights=$cache/$name.gguf
python=$cache/venv/bin/python

say() { echo "serve.sh: $*" >&2; }
[ $# -gt 0 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }

if [ "$(uname -sm)" != "Linux x86_64" ]; then
  say "SKIPPED: the pinned server is built for Linux on x86_64"
  exit 77
fi

# Three attempts, for a bad moment of the index. A package that is there but is not the pinned one is no reason to skip.
pip() {
  local attempt words
  for attempt in 1 2 3; do
    words=$("$python" -m pip "$@" --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes 2>&1) &&
      return 0
    say "pip $1, attempt $attempt: $words"
    case $words in *"DO NOT MATCH THE HASHES"*) exit 70 ;; esac
  done
  return 1
}

install() {
  if ! "$python" -c 'import xllamacpp' 2>/dev/null; then
    rm -rf "$cache/venv"
    python3 -m venv "$cache/venv" || return 1
    pip install -r "$here/server.req" || return 1
  fi
  if ! [ -f "$weights" ]; then
    local wheels
    wheels=$(mktemp -d "$cache/wheels.XXXXXX")
    pip download -r "$here/model.req" --dest "$wheels" || { rm -rf "$wheels"; return 1; }
    "$python" "$here/model.py" unpack "$wheels" "$weights" "$sha256" || { rm -rf "$wheels"; exit 70; }
    rm -rf "$wheels"
  fi
}

mkdir -p "$cache"
exec 9>"$cache/lock"
python3 -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)' # two runs on one machine install one after the other
if ! install; then
  say "SKIPPED: the packages of server.req and model.req cannot be had from here"
  exit 77
fi
exec 9>&-

log=$(mktemp "$cache/server.XXXXXX.log")
# Threads that wait by spinning make a call 5 to 10 times slower where other work wants the cores too.
coproc SERVER { GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-0} exec "$python" "$here/model.py" serve "$weights" "$name" "$context" 2>"$log"; }
server=$SERVER_PID output=${SERVER[0]} input=${SERVER[1]} # bash forgets the array when the server dies
stop() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  rm -f "$log"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if ! read -r -t 180 url <&"$output"; then
  say "the server did not come up; its last words:"
  tail -n 20 "$log" >&2
  exit 70
fi
say "$name at $url"
code=0
OPENAI_BASE_URL=$url OPENAI_API_KEY=sk-local AUDITOR_MODEL=$name "$@" {input}>&- || code=$?
kill -0 "$server" 2>/dev/null || { say "the server died while the command ran:"; tail -n 20 "$log" >&2; }
exit "$code"
