// Elements of the page. Whatever a capture holds becomes text of an element, and never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** A section with a heading, a sentence below it, and what it can be told. */
function section(title, note, controls, ...children) {
  const id = `s-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  const head = el("div", {}, el("h2", { id }, title), note ? el("p", { class: "note" }, note) : null);
  const all = [el("div", { class: "head" }, head, el("div", { class: "controls" }, ...controls)), ...children];
  return el("section", { "aria-labelledby": id }, ...all);
}

/** Buttons of which one is chosen. */
function choice(label, options, chosen, choose) {
  const buttons = options.map(([value, text]) => el("button", {
    type: "button",
    "aria-pressed": String(value === chosen),
    onclick: () => {
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(options[at][0] === value)));
      choose(value);
    },
  }, text));
  return el("div", { class: "choice", role: "group", "aria-label": label }, ...buttons);
}

const announcer = el("div", { class: "told", role: "status", "aria-live": "polite" });
const announce = (text) => { announcer.textContent = text; };

/** Puts text where a program can paste it; says whether that was possible. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page that was opened as a file may not have that right.
    const area = el("textarea", { style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

const csvValue = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (rows) => rows.map((row) => row.map(csvValue).join(",")).join("\n") + "\n";

function copyButton(what, rows) {
  const button = el("button", {
    type: "button", class: "plain", "aria-label": `Copy ${what} as CSV`,
    onclick: async () => {
      const done = await copy(csv(rows()));
      button.textContent = done ? "Copied" : "Not copied";
      announce(done ? `Copied ${what} as CSV` : "The browser did not allow to copy");
      setTimeout(() => { button.textContent = "Copy CSV"; }, 1600);
    },
  }, "Copy CSV");
  return button;
}
