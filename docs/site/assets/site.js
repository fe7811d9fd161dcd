// What the theme leaves out for people who use keys or hear pages: the search has a name, and what scrolls can be reached.
"use strict";
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
for (const region of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) region.tabIndex = 0;
