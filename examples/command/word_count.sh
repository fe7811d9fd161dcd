#!/usr/bin/env bash
# Counts the words of a text in a new table file, and prints those that begin with a prefix: word_count.sh TABLE TEXT PREFIX
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: word_count.sh TABLE TEXT PREFIX" >&2; exit 2; }

tr -cs 'A-Za-z' '\n' <"$2" | tr 'A-Z' 'a-z' | sed '/^$/d' | sort | uniq -c | while read -r count word; do
  bytewright table put "$1" "$word" "$count"
done
bytewright table scan "$1" --prefix "$3" | tr "\t" " "
