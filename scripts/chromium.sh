#!/usr/bin/env bash
# The browser tests drive the system's Chromium; this installs it where that is possible.
set -eu
chromium=${CHROMIUM:-/usr/bin/chromium}
[ -x "$chromium" ] && exit 0
if [ "$(id -u)" = 0 ] && [ -z "${CHROMIUM:-}" ] && command -v apt-get >/dev/null; then
  echo "installing Chromium (once, about 25 s)" >&2
  log=$(mktemp)
  if { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >"$log" 2>&1 \
    && [ -x "$chromium" ]; then
    rm -f "$log"
    exit 0
  fi
  tail -n 5 "$log" >&2
fi
echo "Chromium is missing at $chromium: the browser tests need it; run 'apt-get install -y --no-install-recommends chromium' as root, or set CHROMIUM=/path/to/chromium." >&2
exit 1
