// Pictures over time: areas that stand on each other, or lines, over the intervals of the page. All show the same part of
// the time, which dragging and keys choose.

const axis = data.time && { begin: BigInt(data.time.begin), width: BigInt(data.time.width), count: data.time.count };
const at = (bin) => axis.begin + BigInt(bin) * axis.width;
const widthSeconds = axis ? Number(axis.width) / 1e9 : 0;

/** The intervals that are shown, and who is told of a change. */
const view = { from: 0, to: axis ? axis.count : 0, watchers: [] };

function show(from, to) {
  const least = Math.min(4, axis.count);
  from = Math.max(0, Math.min(Math.floor(from), axis.count - least));
  to = Math.min(axis.count, Math.max(Math.ceil(to), from + least));
  if (from === view.from && to === view.to) return;
  Object.assign(view, { from, to });
  view.watchers.forEach((watcher) => watcher());
  announce(`${clock(at(from), axis.width, true)} to ${clock(at(to), axis.width, true)}`);
}

const isWhole = () => !axis || (view.from === 0 && view.to === axis.count);

const TIME_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((n) => [n * 1e3, n * 1e6])
  .concat([1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((s) => s * 1e9))
  .concat([2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].map((d) => d * 86400e9))
  .sort((a, b) => a - b);

/** Places in time where the axis has a mark, each with its text. */
function timeMarks(most) {
  const [from, to] = [at(view.from), at(view.to)];
  const span = Number(to - from);
  const step = BigInt(TIME_STEPS.find((step) => span / step <= most) ?? TIME_STEPS.at(-1));
  const marks = [];
  for (let ns = ((from + step - 1n) / step) * step; ns <= to; ns += step) {
    marks.push([Number(ns - from) / span, clock(ns, step, false)]);
  }
  return marks;
}

/** Round numbers from 0 to `top` at least. */
function levels(top, most) {
  const rough = Math.max(top, 1) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough));
  const marks = [];
  for (let level = 0; level < top + step; level += step) marks.push(level);
  return marks;
}

/** Powers of ten around the numbers. */
function decades(low, high) {
  const [from, to] = [Math.floor(Math.log10(Math.max(low, 1))), Math.ceil(Math.log10(Math.max(high, 2)))];
  return Array.from({ length: Math.max(to, from + 1) - from + 1 }, (_, at) => 10 ** (from + at));
}

const MARGIN = { top: 8, right: 4, bottom: 24, left: 58 };

/**
 * A picture of `series()`: each with a name, a colour, numbers by interval, and whether it is left out. `options`: `label`;
 * `height`; `isStacked`; `isLog`; `unit` shows a number at the axis; `detail` shows one in the box.
 */
function timeChart(series, options) {
  const height = options.height ?? 250;
  const drawing = svg("svg", { height, "aria-hidden": "true" });
  const tip = el("div", { class: "tip", hidden: true });
  const chart = el("div", { class: "chart", tabindex: "0", role: "application", "aria-label":
    `${options.label}. Left and right move, plus and minus zoom, escape shows all.` }, drawing, tip);
  const state = { width: 0, cursor: null, drag: null };

  const inner = () => Math.max(40, state.width - MARGIN.left - MARGIN.right);
  const x = (bin) => MARGIN.left + ((bin - view.from) / (view.to - view.from)) * inner();
  const visible = () => series().filter((one) => !one.isOut);

  function heights(now) {
    const bottom = height - MARGIN.bottom;
    const sums = new Array(view.to - view.from).fill(0);
    const known = [];
    for (const one of now) {
      for (let bin = view.from; bin < view.to; bin += 1) {
        const number = one.values[bin];
        if (number === null) continue;
        sums[bin - view.from] += number;
        if (options.isLog ? number > 0 : true) known.push(number);
      }
    }
    const top = options.isStacked ? sums.reduce((most, sum) => Math.max(most, sum), 0)
      : known.reduce((most, number) => Math.max(most, number), 0);
    const low = known.reduce((least, number) => Math.min(least, number), Infinity);
    const marks = options.isLog ? decades(Number.isFinite(low) ? low : 1, top) : levels(top, 4);
    const [first, last] = [marks[0], marks.at(-1)];
    const share = options.isLog
      ? (number) => Math.log10(Math.max(number, first) / first) / Math.log10(last / first)
      : (number) => number / last;
    return { marks, y: (number) => bottom - share(number) * (bottom - MARGIN.top) };
  }

  /** The outline of an area between two rows of numbers, in steps. */
  function area(below, above, y) {
    const there = [];
    const back = [];
    above.forEach((number, place) => {
      const [left, right] = [x(view.from + place).toFixed(1), x(view.from + place + 1).toFixed(1)];
      there.push(`${left},${y(number).toFixed(1)} ${right},${y(number).toFixed(1)}`);
      back.push(`${right},${y(below[place]).toFixed(1)} ${left},${y(below[place]).toFixed(1)}`);
    });
    return `M${there.join(" ")} ${back.reverse().join(" ")}Z`;
  }

  function areas(now, y) {
    let below = new Array(view.to - view.from).fill(0);
    return now.map((one) => {
      const above = below.map((sum, place) => sum + (one.values[view.from + place] ?? 0));
      const path = svg("path", { d: area(below, above, y), fill: one.colour, "data-name": one.name });
      below = above;
      return path;
    });
  }

  /** The first series lies above the others. */
  function lines(now, y) {
    return [...now].reverse().flatMap((one) => {
      const runs = [];
      let run = [];
      for (let bin = view.from; bin <= view.to; bin += 1) {
        const number = bin < view.to ? one.values[bin] : null;
        if (number !== null) run.push([x(bin + 0.5).toFixed(1), y(number).toFixed(1)]);
        else if (run.length > 0) { runs.push(run); run = []; }
      }
      return runs.map((points) => points.length === 1
        ? svg("circle", { cx: points[0][0], cy: points[0][1], r: 2.2, fill: one.colour })
        : svg("polyline", { class: "line", points: points.join(" "), stroke: one.colour }));
    });
  }

  function draw() {
    if (state.width === 0) return;
    const now = visible();
    const { marks, y } = heights(now);
    const bottom = height - MARGIN.bottom;
    const right = MARGIN.left + inner();
    drawing.setAttribute("viewBox", `0 0 ${state.width} ${height}`);
    const grid = marks.map((mark) => [
      svg("line", { class: "grid", x1: MARGIN.left, x2: right, y1: y(mark), y2: y(mark) }),
      svg("text", { x: MARGIN.left - 8, y: y(mark) + 4, "text-anchor": "end" }, options.unit(mark)),
    ]);
    const times = timeMarks(Math.max(2, Math.floor(inner() / 110))).map(([share, text]) => {
      const place = MARGIN.left + share * inner();
      const anchor = place > right - 30 ? "end" : place < MARGIN.left + 30 ? "start" : "middle";
      return [
        svg("line", { class: "base", x1: place, x2: place, y1: bottom, y2: bottom + 4 }),
        svg("text", { x: place, y: height - 6, "text-anchor": anchor }, text),
      ];
    });
    const shapes = options.isStacked ? areas(now, y) : lines(now, y);
    drawing.replaceChildren(...grid.flat(), ...shapes,
      svg("line", { class: "base", x1: MARGIN.left, x2: right, y1: bottom, y2: bottom }), ...times.flat(), ...marked(bottom));
    tell(now);
  }

  /** What is dragged over, and where the cursor stands. */
  function marked(bottom) {
    const shapes = [];
    if (state.drag) {
      const [from, to] = [Math.min(...state.drag), Math.max(...state.drag)];
      shapes.push(svg("rect", { class: "drag", x: x(from), y: MARGIN.top, width: Math.max(1, x(to) - x(from)), height: bottom - MARGIN.top }));
    }
    if (state.cursor !== null) {
      const place = x(state.cursor + 0.5);
      shapes.push(svg("line", { class: "cursor", x1: place, x2: place, y1: MARGIN.top, y2: bottom }));
    }
    return shapes;
  }

  function tell(now) {
    const bin = state.cursor;
    tip.hidden = bin === null || bin < view.from || bin >= view.to;
    if (tip.hidden) return;
    const rows = now.map((one) => [one, one.values[bin]]).filter(([, number]) => number !== null && (number > 0 || !options.isStacked));
    const sum = rows.reduce((sum, [, number]) => sum + number, 0);
    const ordered = options.isStacked ? [...rows].reverse() : rows;
    tip.replaceChildren(
      el("div", { class: "at" }, clock(at(bin), axis.width, true)),
      ...ordered.map(([one, number]) => el("div", { class: "row" }, el("i", { style: `background:${one.colour}` }), one.name, el("b", {}, options.detail(number)))),
      ...(rows.length === 0 ? [el("div", { class: "row" }, "nothing")] : []),
      ...(options.isStacked && rows.length > 0 ? [el("div", { class: "row" }, "all", el("b", {}, options.detail(sum, true)))] : []));
    const place = x(bin + 0.5);
    const isLeft = place > state.width / 2;
    const left = isLeft ? place - tip.offsetWidth - 12 : place + 12;
    tip.style.transform = `translate(${Math.max(0, Math.min(left, state.width - tip.offsetWidth))}px, 6px)`;
  }

  const binAt = (event, isEdge) => {
    const place = (event.clientX - drawing.getBoundingClientRect().left - MARGIN.left) / inner();
    const bin = view.from + place * (view.to - view.from);
    return isEdge ? Math.max(view.from, Math.min(view.to, bin)) : Math.max(view.from, Math.min(view.to - 1, Math.floor(bin)));
  };
  drawing.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    state.drag = [binAt(event, true), binAt(event, true)];
    state.cursor = binAt(event, false);
    draw();
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (event) => {
    state.cursor = binAt(event, false);
    if (state.drag) state.drag[1] = binAt(event, true);
    draw();
  });
  const endDrag = (event, isDone) => {
    const drag = state.drag;
    state.drag = null;
    if (drag && isDone && Math.abs(x(drag[0]) - x(drag[1])) > 6) {
      const [from, to] = [Math.min(...drag), Math.max(...drag)];
      state.cursor = null;
      show(from, to);
    }
    draw();
  };
  drawing.addEventListener("pointerup", (event) => endDrag(event, true));
  drawing.addEventListener("pointercancel", (event) => endDrag(event, false));
  // A finger leaves the picture when it is lifted; what it pointed at stays to be read.
  drawing.addEventListener("pointerleave", (event) => {
    if (!state.drag && event.pointerType !== "touch") { state.cursor = null; draw(); }
  });
  drawing.addEventListener("dblclick", () => show(0, axis.count));
  chart.addEventListener("blur", () => { state.cursor = null; draw(); });
  chart.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = state.cursor ?? Math.floor((view.from + view.to) / 2);
    const span = view.to - view.from;
    const moves = {
      ArrowLeft: () => { state.cursor = Math.max(view.from, middle - 1); },
      ArrowRight: () => { state.cursor = Math.min(view.to - 1, middle + 1); },
      Home: () => { state.cursor = view.from; },
      End: () => { state.cursor = view.to - 1; },
      "+": () => show(middle - span / 4, middle + span / 4),
      "=": () => show(middle - span / 4, middle + span / 4),
      "-": () => show(middle - span, middle + span),
      Escape: () => { state.cursor = null; show(0, axis.count); },
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
    draw();
    if (state.cursor !== null) announce(tip.innerText);
  });

  new ResizeObserver(([entry]) => { state.width = Math.round(entry.contentRect.width); draw(); }).observe(chart);
  view.watchers.push(draw);
  return { element: chart, draw };
}

/** Names to click at, each with what it stands for in all; a name that is clicked is left out of the picture. */
function legend(series, shown, redraw) {
  const list = el("ul", { class: "legend" });
  const draw = () => list.replaceChildren(...series().map((one) => el("li", {}, el("button", {
    type: "button", "aria-pressed": String(!one.isOut), title: one.isOut ? "Show it" : "Leave it out",
    onclick: (event) => {
      const others = series();
      // Alone with it, or all again.
      if (event.shiftKey) {
        const isAlone = others.every((other) => other === one || other.isOut);
        others.forEach((other) => { other.isOut = !isAlone && other !== one; });
      } else one.isOut = !one.isOut;
      draw();
      redraw();
      list.children[others.indexOf(one)]?.firstChild.focus();
    },
  }, el("i", { style: `background:${one.colour}` }), one.name, el("span", {}, shown(one))))));
  draw();
  return { element: list, draw };
}

/** A button that shows all of the time again, as long as a part is shown. */
function wholeButton() {
  const button = el("button", { type: "button", class: "plain", hidden: true, onclick: () => show(0, axis.count) }, "Show all");
  view.watchers.push(() => { button.hidden = isWhole(); });
  return button;
}
