// Numbers and times as people read them.

const data = JSON.parse(document.getElementById("data").textContent);

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

const count = (number) => grouped.format(number);

/** A number with a unit of three digits, such as 12.3 k. */
function short(number, units = ["", "k", "M", "G", "T", "P"]) {
  let at = 0;
  while (Math.abs(number) >= 999.5 && at < units.length - 1) {
    number /= 1000;
    at += 1;
  }
  const digits = at === 0 && Number.isInteger(number) ? 0 : Math.abs(number) < 9.995 ? 2 : Math.abs(number) < 99.95 ? 1 : 0;
  const text = number.toFixed(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  return units[at] ? `${text} ${units[at]}` : text;
}

const bytes = (number) => short(number, ["B", "kB", "MB", "GB", "TB", "PB"]);

/** Microseconds. */
function latency(us) {
  if (us === null) return "–";
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${short(us / 1000)} ms`;
  return seconds(us / 1e6);
}

function seconds(number) {
  if (number < 1e-3) return `${short(number * 1e6)} µs`;
  if (number < 1) return `${short(number * 1e3)} ms`;
  if (number < 120) return `${short(number)} s`;
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const told = [];
  let rest = Math.round(number);
  for (const [size, unit] of parts) {
    if (rest >= size && told.length < 2) told.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return told.join(" ");
}

const pad = (number, width) => String(number).padStart(width, "0");

/** The parts of a time, which is a BigInt of nanoseconds since 1970 in UTC. */
function parts(ns) {
  const second = 1_000_000_000n;
  const rest = ((ns % second) + second) % second;
  const date = new Date(Number((ns - rest) / 1_000_000n));
  return {
    day: `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1, 2)}-${pad(date.getUTCDate(), 2)}`,
    clock: `${pad(date.getUTCHours(), 2)}:${pad(date.getUTCMinutes(), 2)}`,
    second: pad(date.getUTCSeconds(), 2),
    fraction: pad(rest, 9),
  };
}

/** A time as exact as intervals of `width` nanoseconds need. */
function clock(ns, width, withDay) {
  const { day, clock, second, fraction } = parts(ns);
  if (width >= 86_400_000_000_000n) return day;
  let text = clock;
  if (width < 60_000_000_000n) text += `:${second}`;
  if (width < 1_000_000_000n) text += `.${fraction.slice(0, width >= 1_000_000n ? 3 : 6)}`;
  return withDay ? `${day} ${text}` : text;
}

/** A time to the millisecond, with its day. */
function time(ns) {
  const { day, clock, second, fraction } = parts(ns);
  return `${day} ${clock}:${second}.${fraction.slice(0, 3)}`;
}
