"use strict";
(() => {
const one = (id) => document.getElementById(id);
const text = (id) => one(id).textContent;
const names = (id) => one(id).value.split(/[\s,]+/).filter((name) => name !== "");

let files = [];
// The worker that is at work, and the answer of the last one.
let worker = null;
let answer = null;

// Adds a line to the list of what went wrong, or to that of what there is to say.
function tell(message, list = "messages") {
  const item = document.createElement("li");
  item.textContent = message;
  one(list).append(item);
}

function stop() {
  worker?.terminate();
  worker = null;
  one("work").hidden = true;
  document.body.dataset.state = "idle";
}

// Returns the question of the form, in the words of the core.
function question() {
  const where = one("where").value.trim();
  const named = where === "" ? [] : [`where=${where}`];
  const [by, sums, every] = [names("by"), names("sum"), one("every").value.trim()];
  if (by.length + sums.length === 0 && every === "") return { question: "report", named };
  named.push(...by.map((name) => `by=${name}`), ...sums.map((name) => `sum=${name}`));
  if (every !== "") named.push(`every=${every}`);
  return { question: "sums", named };
}

// Returns the question that writes a capture, in the words of the core.
function cut() {
  const options = ["name", "where", "snaplen", "anonymize"].map((name) => [name, one(name).value.trim()]).filter(([, value]) => value !== "");
  if (one("anonymize").value.trim() !== "") options.push(["payload", one("payload").value]);
  return { question: "cut", named: options.map((option) => option.join("=")) };
}

function read(asked) {
  if (files.length === 0) return;
  stop();
  one("messages").replaceChildren();
  one("told").replaceChildren();
  one("answer").replaceChildren();
  one("save").hidden = true;
  answer = null;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  Object.assign(one("progress"), { max: Math.max(total, 1), value: 0 });
  one("work").hidden = false;
  document.body.dataset.state = "reading";
  const address = URL.createObjectURL(new Blob([text("core"), text("worker")], { type: "text/javascript" }));
  worker = new Worker(address);
  URL.revokeObjectURL(address);
  worker.onmessage = ({ data }) => take(data);
  worker.onerror = (event) => take({ failure: event.message ?? "the browser starts no worker" });
  worker.postMessage({ packed: text("program"), files, ...asked });
}

function take(data) {
  if ("read" in data) one("progress").value = data.read;
  if ("damage" in data) tell(`Damaged; the packets before it count: ${data.damage}`);
  if ("error" in data) tell(data.error);
  if ("failure" in data) {
    tell(data.failure);
    stop();
  }
  if ("answer" in data) show(data.question, data.answer, data.told);
}

const SAVED_AS = { report: "report.html", sums: "groups.csv" };

async function show(kind, content, told) {
  const asked = worker;
  const shown = kind === "cut" ? "" : await content.text();
  // Another question was asked meanwhile, or this one was stopped.
  if (asked !== worker) return;
  stop();
  told.forEach((line) => tell(line, line.startsWith("damaged") ? "messages" : "told"));
  answer = { content, name: SAVED_AS[kind] ?? one("name").value.trim() };
  if (kind === "cut") save();
  else one("answer").replaceChildren(kind === "report" ? frame(shown) : table(shown));
  one("save").hidden = false;
  document.body.dataset.state = "done";
}

function frame(page) {
  const shown = document.createElement("iframe");
  shown.title = "Report";
  shown.allow = "clipboard-write";
  shown.srcdoc = page;
  return shown;
}

// Returns rows of CSV as lists of texts.
function rows(csv) {
  const all = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n"]*))(,|\n|$)/g)) {
    all.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\n") all.push([]);
  }
  return all.filter((row) => row.length > 1 || (row[0] ?? "") !== "");
}

const ROWS_MAX = 1000;

function table(csv) {
  const [head, ...body] = rows(csv);
  const shown = document.createElement("table");
  const line = (into, kind, row) => row.forEach((value) => { into.insertCell().outerHTML = `<${kind}></${kind}>`; into.lastChild.textContent = value; });
  line(shown.createTHead().insertRow(), "th", head);
  const part = shown.createTBody();
  body.slice(0, ROWS_MAX).forEach((row) => line(part.insertRow(), "td", row));
  if (body.length > ROWS_MAX) shown.createCaption().textContent = `The first ${ROWS_MAX} of ${body.length} rows; the file has all`;
  return shown;
}

function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(answer.content);
  link.download = answer.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function choose(chosen) {
  if (chosen.length === 0) return;
  files = [...chosen];
  one("chosen").textContent = files.map((file) => file.name).join(", ");
  read(question());
}

one("files").onchange = (event) => choose(event.target.files);
one("stop").onclick = () => { stop(); tell("Stopped."); };
one("save").onclick = save;
one("cut").onclick = () => read(cut());
one("question").onsubmit = (event) => { event.preventDefault(); read(question()); };
const over = (is_over) => (event) => { event.preventDefault(); one("drop").classList.toggle("over", is_over); };
document.addEventListener("dragover", over(true));
document.addEventListener("dragleave", over(false));
document.addEventListener("drop", (event) => { over(false)(event); choose(event.dataTransfer.files); });
document.body.dataset.state = "idle";
})();
