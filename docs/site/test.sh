#!/usr/bin/env bash
# Opens the site in a browser without a screen: docs/site/test.sh SITE. Where there is no Chromium, this says so and is done.
set -euo pipefail
cd "$(dirname "$0")/../.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "gap: Chromium is not here, so no page of the site was opened (Debian: chromium)" >&2
  exit 0
fi
PYTHONDONTWRITEBYTECODE=1 exec target/site-tools/bin/python docs/site/test.py "$1" "$browser"
