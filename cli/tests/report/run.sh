#!/usr/bin/env bash
# Opens pages that the command makes in a browser without a screen. Where there is no Chromium, this says so and is done.
set -euo pipefail
cd "$(dirname "$0")/../../.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "gap: Chromium is not here, so no page of a report was opened (Debian: chromium)" >&2
  exit 0
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 cli/tests/report/pages.py "${1:-target/debug/bytewright}" "$browser"
