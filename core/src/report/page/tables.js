// Tables that sort, search and can be copied.

/** What the page knows of rows by time: wider intervals than those of the pictures, so a part may begin before them and end behind. */
function part() {
  if (!data.parts || isWhole()) return null;
  const { each } = data.parts;
  const from = Math.floor(view.from / each);
  const to = Math.ceil(view.to / each);
  const [begin, end] = [at(from * each), at(Math.min(to * each, axis.count))];
  const told = (ns) => clock(ns, axis.width, true);
  return { from, to, begin, end, text: `from ${told(begin)} to ${told(end)}` };
}

/** The rows with the numbers of a part, the largest first; those that have nothing there, or are not known by time, are left out. */
function narrowed(rows, byTime, { from, to }) {
  const known = rows.map((row, place) => {
    const sums = byTime[place];
    if (!sums) return null;
    const numbers = Object.entries(sums).map(([key, all]) => [key, sum(all.slice(from, to))]);
    return { ...row, flows: null, ...Object.fromEntries(numbers) };
  });
  const there = known.filter((row) => row && row.packets > 0).sort((a, b) => b.bytes - a.bytes || b.packets - a.packets);
  return { rows: there, unknown: known.filter((row) => row === null).length };
}

/**
 * `columns` say of each: the key in a row, the title, how a value is shown (`show`), whether it is a number, and whether
 * a bar behind it shows its share of the largest (`share`). `inPart` gives the rows of a part of the time and a note about
 * them; without it, rows are of all of the time, and the note says so.
 */
function table(title, note, all, columns, inPart = null) {
  let rows = all;
  let sorted = { column: null, isDescending: true };
  let words = "";
  const value = (row, column) => (column.of ? column.of(row) : row[column.key]);
  const shown = (row, column) => {
    const known = value(row, column);
    if (known === null || known === undefined) return "–";
    return column.show ? column.show(known, row) : column.number ? count(known) : String(known);
  };
  const mostOf = () => new Map(columns.filter((column) => column.share)
    .map((column) => [column, rows.reduce((most, row) => Math.max(most, value(row, column)), 1)]));
  let largest = mostOf();

  const body = el("tbody");
  const none = el("p", { class: "none", hidden: true }, "No row has these words.");
  const headers = columns.map((column) => el("th", { class: column.number ? "number" : "", scope: "col", "aria-sort": "none" },
    el("button", { type: "button", onclick: () => sortBy(column), title: column.meaning }, column.title)));

  function selected() {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => {
      if (wanted.length === 0) return true;
      const text = columns.map((column) => shown(row, column)).join(" ").toLowerCase();
      return wanted.every((word) => text.includes(word));
    });
    const { column, isDescending } = sorted;
    if (!column) return found;
    const order = (left, right) => {
      const [a, b] = [value(left, column), value(right, column)];
      if (a === b) return 0;
      if (a === null || a === undefined) return 1;
      if (b === null || b === undefined) return -1;
      const before = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
      return isDescending ? -before : before;
    };
    return found.toSorted ? found.toSorted(order) : [...found].sort(order);
  }

  function cell(row, column) {
    const share = column.share ? `--share:${(100 * value(row, column) / largest.get(column)).toFixed(1)}%` : null;
    const kind = [column.number ? "number" : "text", column.share ? "share" : ""].join(" ").trim();
    const text = shown(row, column);
    return el("td", { class: kind, style: share, title: !column.number && text.length > 40 ? text : null }, text);
  }

  function draw() {
    const now = selected();
    body.replaceChildren(...now.map((row) => el("tr", {}, ...columns.map((column) => cell(row, column)))));
    none.hidden = now.length > 0;
    headers.forEach((header, at) => {
      const isSorted = columns[at] === sorted.column;
      header.setAttribute("aria-sort", !isSorted ? "none" : sorted.isDescending ? "descending" : "ascending");
    });
  }

  function sortBy(column) {
    const isDescending = sorted.column === column ? !sorted.isDescending : Boolean(column.number);
    sorted = { column, isDescending };
    draw();
    announce(`${title} by ${column.title}, ${isDescending ? "descending" : "ascending"}`);
  }

  const search = el("input", {
    class: "search", type: "search", placeholder: "Search", "aria-label": `Search ${title.toLowerCase()}`, spellcheck: "false",
    oninput: (event) => { words = event.target.value; draw(); },
  });
  const raw = (row, column) => (column.raw ? column.raw(row) : value(row, column));
  const copied = () => [columns.map((column) => column.key), ...selected().map((row) => columns.map((column) => raw(row, column)))];
  draw();
  const scroll = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title },
    el("table", {}, el("thead", {}, el("tr", {}, ...headers)), body), none);
  if (rows.length === 0) none.textContent = "Nothing was found.";
  const whole = note ?? "Of all of the time.";
  const told = section(title, whole, [rows.length > 5 ? search : null, copyButton(title.toLowerCase(), copied)], scroll);
  view.watchers.push(() => {
    const now = part();
    const found = now && inPart ? inPart(now) : { rows: all, note: isWhole() || !axis ? whole : `${whole} Of all of the time.` };
    rows = found.rows;
    largest = mostOf();
    told.querySelector(".note").textContent = found.note;
    draw();
  });
  return told;
}
