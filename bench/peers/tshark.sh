#!/bin/sh
# Peer: tshark -T fields, its fields counted by awk (which starts in a millisecond or two and takes
# under a tenth of a second for 20,000 lines, on the other core while tshark works).
#
#   tshark.sh count_by_dst_port CAPTURE
#   tshark.sh sum_by_minute CAPTURE         bytes by dst_port and minute
#   tshark.sh conversations CAPTURE         conversations of TCP, by tshark's own statistics
#
# The options switch off what a task of ports does not need: names, reassembly, desegmentation.

set -eu
task=${1:-} capture=${2:-}

# fields NAME...: those fields of each packet, a line each.
fields() {
  names=
  for name in "$@"; do names="$names -e $name"; done
  # The names hold no space.
  # shellcheck disable=SC2086
  tshark -n -r "$capture" -T fields -E separator='|' -E occurrence=f \
    -o ip.defragment:FALSE -o ipv6.defragment:FALSE -o tcp.desegment_tcp_streams:FALSE $names 2>/dev/null
}

count_by_dst_port() {
  fields frame.number tcp.dstport udp.dstport | awk -F'|' '
    { packets++; port = $2 $3 }
    port != "" { counts[port]++ }
    END {
      for (port in counts) {
        ports++; counted += counts[port]; weighted += port * counts[port]
        squares += counts[port] * counts[port]
      }
      printf "{\"packets\":%.0f,\"ports\":%.0f,\"counted\":%.0f,\"weighted\":%.0f,\"squares\":%.0f}\n",
        packets, ports, counted, weighted, squares
    }'
}

sum_by_minute() {
  fields frame.time_epoch frame.len tcp.dstport udp.dstport | awk -F'|' '
    { group = int($1 / 60) "|" $3 $4; ports[group] = $3 $4; counts[group]++; bytes[group] += $2 }
    END {
      for (group in counts) {
        groups++; packets += counts[group]; lengths += bytes[group]
        weighted += ports[group] * bytes[group]; squares += counts[group] * counts[group]
      }
      printf "{\"packets\":%.0f,\"lengths\":%.0f,\"groups\":%.0f,\"weighted\":%.0f,\"squares\":%.0f}\n",
        packets, lengths, groups, weighted, squares
    }'
}

# Without names, as fast as tshark makes that table.
conversations() {
  tshark -q -n -z conv,tcp -r "$capture" 2>/dev/null | awk '
    # A number of bytes is followed by its unit, kB.
    $2 == "<->" { both = $4 + $7; conversations++; packets += both; squares += both * both }
    END { printf "{\"conversations\":%.0f,\"packets\":%.0f,\"squares\":%.0f}\n", conversations, packets, squares }'
}

if [ -z "$capture" ]; then task=; fi
case $task in
  count_by_dst_port | sum_by_minute | conversations) "$task" ;;
  *)
    echo "usage: tshark.sh count_by_dst_port|sum_by_minute|conversations CAPTURE" >&2
    exit 2
    ;;
esac
