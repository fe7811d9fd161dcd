// What the page consists of.

const colour = (name, place) => (name === "other" ? "var(--s-other)" : `var(--s${place % 9})`);
const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
const percent = (part, all) => {
  if (all === 0) return "–";
  const share = 100 * part / all;
  return part > 0 && share < 0.05 ? "< 0.1 %" : `${share.toFixed(share < 9.95 ? 1 : 0)} %`;
};
const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;
const span = data.first === null ? 0 : Number(BigInt(data.last) - BigInt(data.first)) / 1e9;

const PORTS = {
  20: "ftp-data", 21: "ftp", 22: "ssh", 23: "telnet", 25: "smtp", 53: "dns", 67: "dhcp", 68: "dhcp", 69: "tftp", 80: "http", 88: "kerberos",
  110: "pop3", 111: "rpcbind", 123: "ntp", 137: "netbios", 138: "netbios", 139: "netbios", 143: "imap", 161: "snmp", 179: "bgp", 389: "ldap",
  443: "https", 445: "smb", 465: "smtps", 500: "ike", 514: "syslog", 546: "dhcpv6", 547: "dhcpv6", 587: "submission", 636: "ldaps",
  853: "dns-tls", 993: "imaps", 995: "pop3s", 1194: "openvpn", 1433: "mssql", 1521: "oracle", 1812: "radius", 1883: "mqtt", 1900: "ssdp",
  2049: "nfs", 2055: "netflow", 2152: "gtp-u", 2379: "etcd", 3306: "mysql", 3389: "rdp", 4500: "ipsec-nat", 4789: "vxlan", 5060: "sip",
  5353: "mdns", 5432: "postgresql", 5672: "amqp", 6081: "geneve", 6379: "redis", 6443: "kubernetes", 8080: "http-alt", 8443: "https-alt",
  9042: "cassandra", 9092: "kafka", 9200: "elasticsearch", 11211: "memcached", 27017: "mongodb", 51820: "wireguard",
};
const portName = (name) => (PORTS[name] ? `${name} ${PORTS[name]}` : name);

function header() {
  const theme = choice("Colours", [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"]], "auto", (chosen) => {
    if (chosen === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", chosen);
  });
  const when = data.first === null ? [data.packets === 0 ? "No packet." : "No packet has a time."] : [
    el("b", {}, time(BigInt(data.first))), " to ", el("b", {}, time(BigInt(data.last))), " UTC"];
  const files = data.captures_seen === 1 ? [] : [` · ${plural(data.captures_seen, "capture")}`];
  const asked = data.asked === null ? [] : [" · only ", el("b", {}, data.asked)];
  return el("header", {}, el("div", {}, el("h1", {}, data.title), el("p", { class: "when" }, ...when, ...files, ...asked)),
    el("div", { class: "controls" }, theme));
}

function figures() {
  const rate = span > 0 ? `${short(8 * data.bytes / span, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"])}` : null;
  const packetRate = span > 0 ? `${short(data.packets / span)}/s` : null;
  const all = [
    ["Packets", short(data.packets), packetRate ?? " "],
    ["On the wire", bytes(data.bytes), rate ?? " "],
    ["Time", data.first === null ? "–" : seconds(span), data.untimed > 0 ? `${short(data.untimed)} without a time` : " "],
    ["Conversations", short(data.conversations_seen), `${short(data.connections)} of TCP`],
    ["Resets", short(data.resets), "packets"],
    ["Retransmissions", short(data.repeats + data.fills), `${short(data.fills)} of them fill a gap`],
  ];
  if (data.calls_seen > 0) all.push(["Thrift calls", short(data.calls_seen), `${plural(data.call_errors, "error")}`]);
  return el("dl", { class: "figures" }, ...all.map(([name, figure, small]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, figure, el("small", {}, small)))));
}

function damage() {
  const damaged = data.captures.filter((capture) => capture.damage !== null);
  if (damaged.length === 0) return null;
  const more = data.captures_damaged - damaged.length;
  return el("section", { class: "damage" }, el("h2", {}, `${plural(data.captures_damaged, "capture is", "captures are")} damaged`),
    el("p", { class: "note" }, "All packets before the damage are on this page."),
    el("ul", {}, ...damaged.map((capture) => el("li", {}, `${capture.name}: ${capture.damage}`)),
      more > 0 ? el("li", {}, `and ${count(more)} more`) : null));
}

/** What was asked and what was found, where that is nothing. */
function nothing() {
  if (data.packets > 0) return null;
  const where = data.captures_seen === 1 ? "The capture holds" : `The ${count(data.captures_seen)} captures hold`;
  const asked = data.asked === null ? null : el("b", {}, data.asked);
  const text = asked === null ? [`${where} no packet.`]
    : data.packets_read === 0 ? [`${where} no packet that matches `, asked, "."]
      : [data.packets_read === 1 ? "The only packet does not match " : `None of ${count(data.packets_read)} packets matches `, asked, "."];
  return el("section", { class: "nothing" }, el("h2", {}, "Nothing found"), el("p", { class: "note" }, ...text));
}

/** Traffic over time by protocol or by port, in bytes or in packets. */
function traffic() {
  if (!data.time) return null;
  const state = { by: data.protocols.length > 1 ? "protocols" : "ports", measure: "bytes" };
  const coloured = (all, named) => all.map((one, place) => ({
    ...one, key: one.name, name: named(one.name), colour: colour(one.name, place), isOut: false,
  }));
  const both = { protocols: coloured(data.protocols, (name) => name), ports: coloured(data.ports, portName) };
  const series = () => both[state.by].map((one) => Object.assign(one, { values: one[state.measure] }));
  const inAll = (one) => (state.measure === "bytes" ? bytes(sum(one.bytes)) : short(sum(one.packets)));
  const chart = timeChart(series, {
    label: "Traffic over time", height: 280, isStacked: true,
    unit: (number) => (state.measure === "bytes" ? bytes(number) : short(number)),
    detail: (number, isSum) => {
      if (state.measure === "packets") return count(number);
      return isSum ? `${bytes(number)} · ${short(8 * number / widthSeconds, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"])}` : bytes(number);
    },
  });
  const keys = legend(series, inAll, () => chart.draw());
  const redraw = () => { keys.draw(); chart.draw(); };
  const rows = () => {
    const shown = series().filter((one) => !one.isOut);
    const bins = Array.from({ length: view.to - view.from }, (_, place) => view.from + place);
    return [["time_ns", ...shown.map((one) => one.key)], ...bins.map((bin) => [at(bin), ...shown.map((one) => one.values[bin])])];
  };
  const controls = [
    wholeButton(),
    choice("Stacked by", [["protocols", "Protocol"], ["ports", "Port"]], state.by, (by) => { state.by = by; redraw(); }),
    choice("Measured in", [["bytes", "Bytes"], ["packets", "Packets"]], "bytes", (measure) => { state.measure = measure; redraw(); }),
    copyButton("traffic over time", rows),
  ];
  const note = `In intervals of ${seconds(widthSeconds)}. Drag to zoom, double-click for all, click a name to leave it out.`;
  return section("Traffic over time", note, controls, chart.element, keys.element);
}

const TCP_COLOURS = ["var(--s2)", "var(--s4)", "var(--s1)", "var(--s3)"];

function tcp() {
  if (!data.time || sum(data.tcp.map((one) => one.total)) === 0) return null;
  const all = data.tcp.map((one, place) => ({ name: one.name, values: one.packets, total: one.total, colour: TCP_COLOURS[place], isOut: false }));
  const chart = timeChart(() => all, { label: "TCP connections over time", height: 190, unit: (number) => short(number), detail: count });
  const keys = legend(() => all, (one) => count(one.total), chart.draw);
  const rows = () => [["time_ns", ...all.map((one) => one.name)],
    ...Array.from({ length: view.to - view.from }, (_, place) => [at(view.from + place), ...all.map((one) => one.values[view.from + place])])];
  return section("TCP", "Packets that open connections, reset them, repeat what had come before, or fill a gap: sent again, or late.",
    [wholeButton(), copyButton("tcp over time", rows)], chart.element, keys.element);
}

function calls() {
  if (!data.time || data.calls_seen === 0) return null;
  const { calls, errors } = data.calls;
  const good = calls.map((number, bin) => number - errors[bin]);
  const counts = [
    { name: "without errors", values: good, colour: "var(--s0)", isOut: false },
    { name: "errors", values: errors, colour: "var(--s4)", isOut: false },
  ];
  const quantiles = [["p50", "p50", "var(--s2)"], ["p99", "p99", "var(--s1)"], ["max", "max", "var(--s4)"]]
    .map(([name, key, colour]) => ({ name, values: data.calls[key], all: data.calls[`${key}_of_all`], colour, isOut: false }));
  const number = timeChart(() => counts, { label: "Thrift calls over time", height: 190, isStacked: true, unit: (n) => short(n), detail: (n) => count(n) });
  const wait = timeChart(() => quantiles, { label: "Latency of Thrift calls over time", height: 190, isLog: true, unit: latency, detail: latency });
  const rows = () => [["time_ns", "calls", "errors", "p50_us", "p99_us", "max_us"],
    ...Array.from({ length: view.to - view.from }, (_, place) => view.from + place).map((bin) =>
      [at(bin), calls[bin], errors[bin], data.calls.p50[bin], data.calls.p99[bin], data.calls.max[bin]])];
  const left = section("Thrift calls", "By when they began.", [wholeButton(), copyButton("calls over time", rows)],
    number.element, legend(() => counts, (one) => count(sum(one.values)), number.draw).element);
  const right = section("Latency", "From the first byte of a call to the last of its answer.", [wholeButton()],
    wait.element, legend(() => quantiles, (one) => latency(one.all), wait.draw).element);
  return el("div", { class: "pair" }, left, right);
}

function lengths() {
  const most = data.lengths.reduce((most, one) => Math.max(most, one.packets), 1);
  const used = data.lengths.slice(0, data.lengths.findLastIndex((one) => one.packets > 0) + 1);
  const bars = used.flatMap((one) => [
    el("span", { class: "name" }, one.to === null ? `${count(one.from)} and more` : `${count(one.from)}–${count(one.to)}`),
    el("div", {}, el("div", { class: "bar", style: `width:${(100 * one.packets / most).toFixed(2)}%;${one.packets ? "" : "min-width:0"}` })),
    el("span", { class: "count" }, count(one.packets), " ", el("small", {}, percent(one.packets, data.packets))),
  ]);
  const rows = () => [["from", "to", "packets", "bytes"], ...data.lengths.map((one) => [one.from, one.to, one.packets, one.bytes])];
  return section("Packet lengths", "Bytes of the frame on the wire.", [copyButton("packet lengths", rows)], el("div", { class: "bars" }, ...bars));
}

/** How a table of sums tells of a part of the time; `what` are its rows. */
const sumsInPart = (rows, byTime, what) => byTime && ((now) => {
  const { rows: there, unknown } = narrowed(rows, byTime, now);
  const lacks = unknown > 0 ? ` ${plural(unknown, "row is", "rows are")} left out, which ${unknown === 1 ? "is" : "are"} not known by time.` : "";
  return { rows: there, note: `Of the ${what} of all of the time, ${now.text}.${lacks}` };
});

const bar = { number: true, share: true };
const first = (rows, all, what) => (all > rows.length ? `The ${count(rows.length)} largest of ${count(all)} ${what}.` : null);
const bounded = (rows, what) => (rows.length >= data.rows_max ? `The ${count(rows.length)} ${what}.` : null);

function protocols() {
  const { rows, count: all } = data.protocol_totals;
  return table("Protocols", first(rows, all, "protocols") ?? "What follows the IP header.", rows, [
    { key: "name", title: "Protocol" },
    { key: "bytes", title: "Bytes", show: bytes, ...bar },
    { key: "packets", title: "Packets", ...bar },
  ], sumsInPart(rows, data.parts?.protocols, "largest protocols"));
}

function ports() {
  const { rows, count: all } = data.port_totals;
  const known = rows.filter((row) => row.name !== "no port");
  const byTime = data.parts?.ports.filter((_, place) => rows[place].name !== "no port");
  return table("Ports", first(known, all - (rows.length - known.length), "ports") ?? "The smaller port of each packet, which usually is the service's.", known, [
    { key: "port", title: "Port", number: true, of: (row) => Number(row.name), show: (port) => String(port) },
    { key: "service", title: "Usually", of: (row) => PORTS[row.name] ?? null },
    { key: "bytes", title: "Bytes", show: bytes, ...bar },
    { key: "packets", title: "Packets", ...bar },
  ], sumsInPart(known, byTime, "largest ports"));
}

function hosts() {
  return table("Hosts", bounded(data.hosts, "hosts with the most bytes") ?? "By the bytes that they sent and received.", data.hosts, [
    { key: "ip", title: "Address" },
    { key: "bytes", title: "Bytes", show: bytes, ...bar },
    { key: "sent", title: "Sent", show: bytes, number: true },
    { key: "received", title: "Received", show: bytes, number: true },
    { key: "packets", title: "Packets", number: true },
    { key: "flows", title: "Conversations", number: true },
  ], sumsInPart(data.hosts, data.parts?.hosts, "hosts with the most bytes"));
}

const withPort = (ip, port) => (port === null ? ip : ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`);
const FLAGS = [["F", 1], ["S", 2], ["R", 4], ["P", 8], ["A", 16], ["U", 32], ["E", 64], ["C", 128]];
const flags = (bits) => (bits === null ? null : FLAGS.filter(([, bit]) => bits & bit).map(([letter]) => letter).join("") || "none");

function conversations() {
  const rows = data.conversations;
  return table("Conversations", first(rows, data.conversations_seen, "conversations") ?? "Both directions are one; on the left who began.", rows, [
    { key: "source", title: "From", of: (row) => withPort(row.src_ip, row.src_port) },
    { key: "destination", title: "To", of: (row) => withPort(row.dst_ip, row.dst_port) },
    { key: "proto", title: "Protocol", of: (row) => data.protocol_names[row.proto] ?? String(row.proto) },
    { key: "bytes_both", title: "Bytes", of: (row) => row.bytes + row.rev_bytes, show: bytes, ...bar },
    { key: "bytes", title: "There", show: bytes, number: true },
    { key: "rev_bytes", title: "Back", show: bytes, number: true },
    { key: "packets_both", title: "Packets", of: (row) => row.packets + row.rev_packets, number: true },
    { key: "duration", title: "Duration", show: (us) => seconds(us / 1e6), number: true },
    { key: "tcp_flags", title: "Flags", of: (row) => flags(row.tcp_flags === null ? null : row.tcp_flags | (row.rev_tcp_flags ?? 0)), meaning: "TCP flags of both directions: Fin, Syn, Reset, Push, Ack, Urgent, Ece, Cwr" },
  ], (now) => {
    const [begin, end] = [Number(now.begin), Number(now.end)];
    const isThere = (row) => row.ts !== null && row.ts < end && row.ts + 1000 * row.duration >= begin;
    return { rows: rows.filter(isThere), note: `Those of the largest that were under way ${now.text}; the numbers are of all of their time.` };
  });
}

function troubles() {
  if (data.troubles.length === 0) return null;
  return table("TCP resets and retransmissions", bounded(data.troubles, "services with the most") ?? "By service, the side with the smaller port.", data.troubles, [
    { key: "service", title: "Service", of: (row) => withPort(row.ip, row.port) },
    { key: "resets", title: "Resets", ...bar },
    { key: "retransmissions", title: "Retransmissions", of: (row) => row.repeats + row.fills, ...bar },
    { key: "repeats", title: "Repeated", number: true, meaning: "Packets that repeat what had come before" },
    { key: "fills", title: "Filled a gap", number: true, meaning: "Packets that were sent again after the first copy was lost, or that are late" },
  ]);
}

function methods() {
  const { rows, count: all } = data.methods;
  if (rows.length === 0) return null;
  return table("Thrift methods", first(rows, all, "methods") ?? null, rows, [
    { key: "method", title: "Method" },
    { key: "calls", title: "Calls", ...bar },
    { key: "errors", title: "Errors", number: true },
    { key: "unanswered", title: "Unanswered", number: true },
    { key: "p50", title: "p50", show: latency, number: true },
    { key: "p99", title: "p99", show: latency, number: true },
    { key: "max", title: "Max", show: latency, number: true },
    { key: "request_bytes", title: "Asked", show: bytes, number: true },
    { key: "reply_bytes", title: "Answered", show: bytes, number: true },
  ]);
}

function captures() {
  const rows = data.captures;
  const when = (ns) => (ns === null ? "–" : time(BigInt(ns)));
  return table("Captures", first(rows, data.captures_seen, "captures") ?? null, rows, [
    { key: "name", title: "Capture" },
    { key: "format", title: "Format", of: (row) => (row.compression === "none" ? row.format : `${row.format}, ${row.compression}`) },
    { key: "file_bytes", title: "Size", show: bytes, number: true },
    { key: "packets", title: "Packets", number: true },
    { key: "bytes", title: "On the wire", show: bytes, number: true },
    { key: "first", title: "First packet", show: when },
    { key: "last", title: "Last packet", show: when },
    { key: "damage", title: "Damage", show: (text) => text },
  ]);
}

const STATUSES = {
  truncated: "are cut inside of a header", bad_header: "have a header that contradicts itself", fragment: "are fragments",
  tunnel: "carry another packet", bad_time: "have a time that cannot be right", unknown_link: "have a link type that is not decoded",
  unknown_header: "have a header that is not decoded",
};

function notes() {
  const told = data.statuses.map(({ name, packets }) => `${plural(packets, "packet")} ${STATUSES[name] ?? name}`);
  return el("footer", {},
    told.length > 0 ? el("p", {}, `Of all packets, ${told.join("; ")}.`) : null,
    el("p", {}, `Times are UTC. Tables hold ${data.rows_max} rows at most, pictures ${axis ? plural(axis.count, "interval") : "none"} and the largest series; all else is counted as “other”. `
      + "A packet fills a gap if it has bytes that are missing in front of others: it was sent again after the first copy was lost, or it is late."),
    el("p", {}, `Made by bytewright ${data.version}.`));
}

const pair = (...both) => {
  const there = both.filter(Boolean);
  return there.length === 2 ? el("div", { class: "pair" }, ...there) : there[0] ?? null;
};
const page = document.getElementById("page");
page.replaceChildren(...[
  header(), figures(), damage(), nothing(), traffic(), calls(), methods(), hosts(), conversations(),
  pair(ports(), protocols()), pair(tcp(), lengths()), troubles(), captures(), notes(), announcer,
].filter(Boolean));
