// Searches the sections of all pages, which index.js has, for words. A section is found if it has all of them; those with
// the words in their headings come first.
"use strict";

const FOUND_MAX = 30;
const EXCERPT = 160;
const field = document.getElementById("search");
const list = document.getElementById("found");
const article = document.querySelector("article");
const lowered = SECTIONS.map((section) => section.slice(2).map((text) => text.toLowerCase()));

function score([title, heading, text], words) {
  let sum = 0;
  for (const word of words) {
    const here = (heading.includes(word) ? 10 : 0) + (title.includes(word) ? 5 : 0) + (text.includes(word) ? 1 : 0);
    if (here === 0) return 0;
    sum += here;
  }
  return sum;
}

function find(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return lowered
    .map((section, at) => ({ at, score: score(section, words) }))
    .filter((found) => found.score > 0)
    .sort((one, other) => other.score - one.score || one.at - other.at)
    .slice(0, FOUND_MAX)
    .map(({ at }) => ({ at, word: words[0] }));
}

function entry({ at, word }) {
  const [page, anchor, title, heading, text] = SECTIONS[at];
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${document.body.dataset.root}/${page}#${encodeURIComponent(anchor)}`;
  link.textContent = heading === title ? title : `${title}: ${heading}`;
  link.addEventListener("click", () => show([]));
  const excerpt = document.createElement("p");
  const start = Math.max(0, lowered[at][2].indexOf(word) - EXCERPT / 2);
  excerpt.textContent = (start > 0 ? "… " : "") + text.slice(start, start + EXCERPT);
  item.append(link, excerpt);
  return item;
}

function show(found, nothing = "") {
  list.replaceChildren(...found.map(entry));
  if (nothing) list.append(nothing);
  list.hidden = !list.hasChildNodes();
  article.hidden = !list.hidden;
}

field.addEventListener("input", () => {
  const found = find(field.value);
  show(found, field.value.trim() && found.length === 0 ? "Nothing found." : "");
});
