#!/usr/bin/env bash
# Lists the hosts that sent the most bytes, over all captures that are named: top_talkers.sh CAPTURE...
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: top_talkers.sh CAPTURE..." >&2; exit 2; }

bytewright flows "$@" --csv | awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
  { sent[$column["src_ip"]] += $column["bytes"]; sent[$column["dst_ip"]] += $column["rev_bytes"] }
  END { for (host in sent) print sent[host], host }' | sort -k1,1nr -k2,2 | sed 5q
