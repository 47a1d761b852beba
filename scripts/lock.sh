#!/usr/bin/env bash
# Resolve pyproject.toml and write requirements.lock and requirements-test.lock.
# uv.lock names the hosts it was made from, so it lives in a temporary copy and is never kept.
set -eu
cd "$(dirname "$0")/.."
uv=${UV:-.venv/bin/uv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp pyproject.toml "$work/"
printf 'x\n' | tee "$work/README.md" >"$work/LICENSE"
"$uv" lock --quiet --project "$work" "$@"
export_lock() {
  "$uv" export --quiet --project "$work" --frozen --format requirements-txt \
    --no-header --no-emit-project --no-default-groups "${@:2}" >"$work/out"
  if grep -nE '://|^ *--(index|extra-index|find-links)' "$work/out"; then
    echo "lock.sh: $1 would name a host (lines above); lock from the plain registry instead" >&2
    exit 1
  fi
  mv "$work/out" "$1"
}
export_lock requirements.lock --extra inspector --group build
export_lock requirements-test.lock --only-group test --only-group bench
