#!/bin/bash
# Records the captures of this folder afresh: real programs on loopback and between two network
# namespaces that have no way out. Needs root.
#
#   samples/record.sh OUTPUT_DIR [web] [vlan] [fragments] [tunnels] [interfaces] [loopback]
#                                [warehouse] [jaeger]
#
# Debian packages: tcpdump tshark iproute2 ethtool iputils-ping bind9-dnsutils curl redis-server
# python3 gzip zstd ruby-thrift thrift-compiler. Nothing is installed and nothing outside OUTPUT_DIR
# is written.
#
# Times, ports and interleaving differ from run to run, so the committed files are the fixed data
# and this script says how they came to be.
set -euo pipefail

tools=$(cd "$(dirname "$0")/record" && pwd)
left=bytewright-left
right=bytewright-right
namespaces=()
pids=()

main() {
  if [ $# -lt 1 ]; then
    sed -n '2,13s/^# \{0,1\}//p' "$0" >&2
    exit 2
  fi
  check_needs
  mkdir -p "$1"
  out=$(cd "$1" && pwd)
  shift
  work=$(mktemp -d)
  trap clean_up EXIT
  [ $# -gt 0 ] || set -- web vlan fragments tunnels interfaces loopback warehouse jaeger
  local name
  for name in "$@"; do
    "record_$name"
    end_of_scene
  done
}

check_needs() {
  local program missing=()
  for program in tcpdump dumpcap ip tc ethtool ping dig curl redis-server python3 gzip zstd thrift ruby; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "missing: ${missing[*]}; on Debian: apt-get install tcpdump tshark iproute2 ethtool" \
      "iputils-ping bind9-dnsutils curl redis-server python3 gzip zstd ruby-thrift thrift-compiler" >&2
    exit 1
  fi
  if [ "$(id -u)" != 0 ]; then
    echo "needs root, for namespaces and captures" >&2
    exit 1
  fi
}

clean_up() {
  end_of_scene
  rm -rf "$work"
}

end_of_scene() {
  local pid name
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  pids=()
  for name in "${namespaces[@]}"; do
    ip netns del "$name"
  done
  namespaces=()
}

# A process that has ended: its number may belong to someone else by now.
forget() {
  local pid kept=()
  for pid in "${pids[@]}"; do
    [ "$pid" = "$1" ] || kept+=("$pid")
  done
  pids=("${kept[@]}")
}

# --- Namespaces and what runs in them ---

in_left() { ip netns exec "$left" "$@"; }
in_right() { ip netns exec "$right" "$@"; }

new_namespace() {
  ip netns add "$1"
  namespaces+=("$1")
  ip -n "$1" link set lo up
}

# Two namespaces and a cable; checksums and segments are made before the cable, as on real wires.
new_pair() {
  local mtu=$1
  new_namespace "$left"
  new_namespace "$right"
  ip -n "$left" link add left address 02:00:00:00:00:01 mtu "$mtu" type veth \
    peer name right address 02:00:00:00:00:02 mtu "$mtu" netns "$right"
  in_left ethtool -K left tx off rx off sg off tso off gso off gro off >/dev/null
  in_right ethtool -K right tx off rx off sg off tso off gso off gro off >/dev/null
  ip -n "$left" link set left up
}

# The cable is plugged in on the right last, so that a recorder on the left sees everything.
plug_in() { ip -n "$right" link set right up; }

# Both ends of one link: number 1 on the left and 2 on the right of 10.NET.0.0/24 and fd00:NET::/64.
address_both() {
  local device_left=$1 device_right=$2 net=$3
  address "$left" "$device_left" "10.$net.0.1/24" "fd00:$net::1/64"
  address "$right" "$device_right" "10.$net.0.2/24" "fd00:$net::2/64"
}

address() {
  local namespace=$1 device=$2 cidr
  shift 2
  for cidr in "$@"; do
    case $cidr in
      *:*) ip -n "$namespace" addr add "$cidr" dev "$device" nodad ;;
      *) ip -n "$namespace" addr add "$cidr" dev "$device" ;;
    esac
  done
}

# Starts a program in a namespace and waits until it has written WORD.
start() {
  local namespace=$1 word=$2
  shift 2
  log=$(mktemp -p "$work")
  ip netns exec "$namespace" "$@" >"$log" 2>&1 </dev/null &
  pids+=($!)
  local tries=0
  until grep -q "$word" "$log"; do
    tries=$((tries + 1))
    if [ $tries -gt 100 ] || ! kill -0 "${pids[-1]}" 2>/dev/null; then
      echo "did not start: $*" >&2
      cat "$log" >&2
      exit 1
    fi
    sleep 0.1
  done
}

start_server() { start "$1" ready python3 "$tools/server.py" "${@:2}"; }

start_redis() {
  local namespace=$1
  shift
  start "$namespace" 'Ready to accept' redis-server --bind "$@" --port 6379 --protected-mode no \
    --save '' --appendonly no --dir "$work"
}

start_tcpdump() {
  local namespace=$1
  shift
  start "$namespace" 'listening on' tcpdump -Z root -B 16384 -n "$@"
  recorder=${pids[-1]} recorder_log=$log
}

start_dumpcap() {
  local namespace=$1
  shift
  start "$namespace" 'File: ' dumpcap -q -B 16 "$@"
  recorder=${pids[-1]} recorder_log=$log
}

stop_recorder() {
  sleep 1
  kill -INT "$recorder"
  wait "$recorder" || true
  forget "$recorder"
  if grep -E '^[1-9][0-9]* packets? dropped by kernel|: [0-9]+/[1-9]' "$recorder_log" >&2; then
    echo "the recorder lost packets; try again on a quieter machine" >&2
    exit 1
  fi
}

wrap_left() { start "$left" ready python3 "$tools/wrap.py" "$@"; }
wrap_right() { start "$right" ready python3 "$tools/wrap.py" "$@"; }

# --- Traffic ---

pings() { in_left ping -q -n -c "$1" -i 0.05 -W 1 "${@:2}" >/dev/null || true; }
ask() { in_left dig -r +tries=1 +time=2 "$@" >/dev/null; }
fetch() { in_left curl -q -s -g -o /dev/null --noproxy '*' --max-time 10 "$@"; }
clients() { in_left python3 "$tools/clients.py" "$@"; }

# A little of everything to the right end of 10.NET.0.0/24 and fd00:NET::/64.
visit() {
  local net=$1 size=$2
  pings 2 "10.$net.0.2"
  pings 2 "fd00:$net::2"
  ask "@10.$net.0.2" www.example.test A
  ask "@fd00:$net::2" www.example.test AAAA
  fetch -H 'Host: www.example.test' "http://10.$net.0.2/bytes/$size"
  fetch -H 'Host: www.example.test' "http://[fd00:$net::2]/bytes/$size"
}

# --- One function per file ---

record_web() {
  new_pair 1500
  local n servers_v4=() servers_v6=() services=()
  for n in 53 54 63 80 81 82 83 84 85 86 87; do
    servers_v4+=("10.20.0.$n/16")
    servers_v6+=("fd00:20::$n/32")
    case $n in
      53 | 54) services+=("dns:10.20.0.$n" "dns:fd00:20::$n") ;;
      81) services+=("http@8080:10.20.0.$n" "http@8080:fd00:20::$n") ;;
      8?) services+=("http:10.20.0.$n" "http:fd00:20::$n") ;;
    esac
  done
  address "$right" right "${servers_v4[@]}" "${servers_v6[@]}"
  for n in {1..16}; do address "$left" left "10.20.1.$n/16"; done
  for n in {1..10}; do address "$left" left "fd00:20:1::$n/32"; done
  # A short queue on the servers' side, so that some segments are lost and sent again.
  tc -n "$right" qdisc add dev right root tbf rate 40mbit burst 16kb limit 24kb
  start_tcpdump "$left" -i left -w "$work/web.pcap"
  plug_in
  sleep 1
  start_server "$right" "${services[@]}"
  start_redis "$right" 10.20.0.63 fd00:20::63
  ip netns exec "$left" python3 "$tools/clients.py" web &
  local mix=$!
  pids+=("$mix")
  for n in 1 2 3 4 5 6; do
    pings 4 -I "10.20.1.$n" "10.20.0.$((79 + n))"
    pings 4 -I "fd00:20:1::$n" "fd00:20::$((79 + n))"
    pings 2 -I "10.20.1.$n" -s 1200 10.20.0.53
    ask -b "10.20.1.$((n + 6))" @10.20.0.54 mail.example.test MX
    fetch --interface "10.20.1.$((n + 9))" -H 'Host: news.example.test' http://10.20.0.84/bytes/2500
    sleep 0.5
  done
  pings 2 -I 10.20.1.1 10.20.0.200
  wait "$mix"
  forget "$mix"
  stop_recorder
  gzip -9 -n -c "$work/web.pcap" >"$out/web.pcap.gz"
}

record_vlan() {
  new_pair 2000
  address_both left right 30
  local n=0 tags
  for tags in 8100.31 8100.0xa020 88a8.100,8100.33 8100.200,8100.34; do
    n=$((n + 1))
    wrap_left "tag:$tags" "tap$n" left
    wrap_right "tag:$tags" "tap$n" right
    ip -n "$left" link set "tap$n" address "02:00:00:00:01:0$n"
    ip -n "$right" link set "tap$n" address "02:00:00:00:02:0$n"
    address_both "tap$n" "tap$n" $((30 + n))
  done
  start_dumpcap "$left" -i left -w "$work/vlan.pcapng"
  plug_in
  for n in 1 2 3 4; do
    ip -n "$left" link set "tap$n" up
    ip -n "$right" link set "tap$n" up
  done
  sleep 1
  start_server "$right" dns:0.0.0.0 dns::: http:0.0.0.0 http:::
  for n in 30 31 32 33 34; do visit "$n" 6000; done
  stop_recorder
  python3 "$tools/anonymous.py" "$work/vlan.pcapng"
  install -m 644 "$work/vlan.pcapng" "$out/vlan.pcapng"
}

record_fragments() {
  new_pair 1280
  address_both left right 50
  start_tcpdump "$left" -i left --time-stamp-precision=nano -w "$work/fragments.pcap"
  plug_in
  sleep 1
  start_server "$right" dns:0.0.0.0 dns::: echo:0.0.0.0 echo:::
  pings 2 -s 3000 10.50.0.2
  pings 2 -s 3000 fd00:50::2
  ask +bufsize=4096 @10.50.0.2 big.example.test TXT
  ask +bufsize=4096 @fd00:50::2 big.example.test TXT
  clients datagrams 4000 2 1 10.50.0.2
  clients datagrams 4000 2 1 fd00:50::2
  clients datagrams 8000 2 3 10.50.0.2
  clients datagrams 8000 2 3 fd00:50::2
  # Now the queue on the servers' side is too short for a whole datagram, so its tail is lost.
  tc -n "$right" qdisc add dev right root tbf rate 1mbit burst 1500 limit 4000
  clients datagrams 8000 1 1 10.50.0.2
  clients datagrams 8000 1 1 fd00:50::2
  stop_recorder
  install -m 644 "$work/fragments.pcap" "$out/fragments.pcap"
}

record_tunnels() {
  new_pair 1600
  address_both left right 40
  start_tcpdump "$left" -i left -w "$work/tunnels.pcap"
  plug_in
  sleep 1
  local here=10.40.0.1 there=10.40.0.2 n
  wrap_left gre gre1 $here $there
  wrap_right gre gre1 $there $here
  wrap_left gre:42 gre2 $here $there
  wrap_right gre:42 gre2 $there $here
  wrap_left gretap tap3 $here $there
  wrap_right gretap tap3 $there $here
  wrap_left ip ip4 $here $there
  wrap_right ip ip4 $there $here
  wrap_left ip ip5 fd00:40::1 fd00:40::2
  wrap_right ip ip5 fd00:40::2 fd00:40::1
  ip -n "$left" link add vx6 type vxlan id 46 dstport 4789 local $here remote $there
  ip -n "$right" link add vx6 type vxlan id 46 dstport 4789 local $there remote $here
  wrap_left geneve:47 tap7 $here $there
  wrap_right geneve:47 tap7 $there $here
  wrap_left mpls:100,200 mpls8 left 02:00:00:00:00:02
  wrap_right mpls:100,200 mpls8 right 02:00:00:00:00:01
  local links=(gre1 gre2 tap3 ip4 ip5 vx6 tap7 mpls8)
  for n in "${!links[@]}"; do
    local link=${links[n]}
    case $link in
      tap* | vx*)
        ip -n "$left" link set "$link" address "02:00:00:00:01:0$((n + 1))"
        ip -n "$right" link set "$link" address "02:00:00:00:02:0$((n + 1))"
        ;;
    esac
    ip -n "$left" link set "$link" mtu 1400
    ip -n "$right" link set "$link" mtu 1400
    address_both "$link" "$link" $((41 + n))
  done
  start_server "$right" dns:0.0.0.0 dns::: http:0.0.0.0 http:::
  for n in "${!links[@]}"; do
    ip -n "$left" link set "${links[n]}" up
    ip -n "$right" link set "${links[n]}" up
    sleep 0.2
    visit $((41 + n)) 3000
  done
  stop_recorder
  install -m 644 "$work/tunnels.pcap" "$out/tunnels.pcap"
}

record_interfaces() {
  new_pair 1500
  address_both left right 60
  plug_in
  wrap_left gre gre1 10.60.0.1 10.60.0.2
  wrap_right gre gre1 10.60.0.2 10.60.0.1
  ip -n "$left" link set gre1 mtu 1400
  ip -n "$right" link set gre1 mtu 1400
  address_both gre1 gre1 61
  ip -n "$left" link set gre1 up
  ip -n "$right" link set gre1 up
  start_dumpcap "$left" -i left -i gre1 -w "$work/interfaces.pcapng"
  start_server "$right" dns:0.0.0.0 dns::: http:0.0.0.0 http:::
  visit 60 2000
  visit 61 2000
  stop_recorder
  python3 "$tools/anonymous.py" "$work/interfaces.pcapng"
  install -m 644 "$work/interfaces.pcapng" "$out/interfaces.pcapng"
}

record_loopback() {
  new_namespace "$left"
  start_server "$left" dns:127.0.0.1 dns:127.0.0.2 dns:::1 http:127.0.0.1 http:127.0.0.2 http:::1
  start_redis "$left" 127.0.0.1 127.0.0.2 ::1
  start_tcpdump "$left" -i any -s 300 -w "$work/loopback.pcap"
  pings 3 127.0.0.1
  pings 3 ::1
  clients loop
  stop_recorder
  zstd -q -19 -f "$work/loopback.pcap" -o "$out/loopback.pcap.zst"
}

record_warehouse() {
  new_namespace "$left"
  mkdir "$work/generated"
  thrift --gen rb -out "$work/generated" "$tools/../warehouse.thrift"
  start "$left" ready ruby "$tools/warehouse.rb" server "$work/generated"
  start_tcpdump "$left" -i lo --time-stamp-precision=nano -w "$work/warehouse.pcap"
  in_left ruby "$tools/warehouse.rb" clients "$work/generated"
  stop_recorder
  zstd -q -19 -f "$work/warehouse.pcap" -o "$out/warehouse.pcap.zst"
}

record_jaeger() {
  new_namespace "$left"
  mkdir "$work/traces"
  thrift --gen rb -out "$work/traces" "$tools/../jaeger.thrift"
  start_tcpdump "$left" -i lo --time-stamp-precision=nano -w "$work/spans.pcap"
  in_left ruby "$tools/jaeger.rb" "$work/traces"
  stop_recorder
  mkdir -p "$out/jaeger"
  zstd -q -19 -f "$work/spans.pcap" -o "$out/jaeger/spans.pcap.zst"
}

main "$@"
