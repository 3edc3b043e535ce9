"use strict";
// Draws the report from the JSON in the page. Text of the model enters by textContent alone.
const data = JSON.parse(document.getElementById("data").textContent);

// ---------------------------------------------------------------------------------------------------------------- elements
function fill(e, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") e.addEventListener(key, value);
    else if (value !== undefined && value !== false) e.setAttribute(key, value);
  }
  for (const c of children.flat(9))
    if (c !== null && c !== undefined) e.append(c);
  return e;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const section = (id) => document.getElementById(id);
const clear = (e, ...children) => {
  e.replaceChildren();
  return fill(e, null, children);
};

// A click, or Enter and the space bar.
function press(action) {
  return {
    tabindex: 0,
    role: "button",
    click: action,
    keydown: (e) => {
      if (e.key === "Enter" || e.key === " ") {
        e.preventDefault();
        action(e);
      }
    }
  };
}

function unit(n, step, units) {
  let i = 0;
  while (n >= step && i < units.length - 1) n /= step, i++;
  return (i ? n.toPrecision(3) : Math.round(n)) + units[i];
}
const bytes = (n) => n < 10240 ? n.toLocaleString("en") + " bytes" : unit(n, 1024, [" B", " KB", " MB", " GB", " TB"]);
const count = (n) => unit(n, 1000, ["", " k", " M", " G", " T"]);
const exact = (n) => n.toLocaleString("en");

// What a cell is sorted by: its number, with KB and MB as what they are, or its text.
function sortKey(cell) {
  const text = cell.textContent, found = text.match(/^([\d.,]+)\s*([kKMGT]?)/);
  if (!cell.classList.contains("n")) return text;
  const factor = {k: 1e3, K: 1024, M: 1048576, G: 1073741824, T: 1099511627776};
  return found ? parseFloat(found[1].replace(/,/g, "")) * (factor[found[2]] || 1) : -1;
}

// A column's rows by its cells, numbers from the largest on; once more: the other way.
function sortBy(head) {
  const column = [...head.parentNode.children].indexOf(head), body = head.closest("table").tBodies[0];
  const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : head.classList.contains("n");
  const keys = new Map([...body.rows].map((row) => [row, sortKey(row.cells[column])]));
  const order = (a, b) => keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : 0;
  for (const h of head.parentNode.children) h.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...[...body.rows].sort((a, b) => down ? order(b, a) : order(a, b)));
}

function table(heads, rows) {
  const cell = (tag, c, more) =>
      el(tag, {class: typeof c === "number" || (c && c.n) ? "n" : undefined, ...more},
         c && c.n                  ? c.text :
             typeof c === "number" ? exact(c) :
                                     c);
  const sorts = (h) => rows.length > 2 && h !== "" ? {...press((e) => sortBy(e.currentTarget)), role: undefined} : {};
  return el(
      "table", {}, el("thead", {}, el("tr", {}, heads.map((h) => cell("th", h, sorts(h))))),
      el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c) => cell("td", c))))));
}
const number = (text) => ({n: true, text: String(text)});
const card = (what, value) => el("div", {class: "card"}, el("b", {}, value), el("span", {}, what));

// ----------------------------------------------------------------------------------------------------------------- programs
for (const p of data.programs) {
  p.nodes = new Map(p.graph.nodes.map((n) => [n.name, n]));
  p.kernelsOf = new Map();
  p.kernels.forEach((k, i) => {
    if (!p.kernelsOf.has(k.node)) p.kernelsOf.set(k.node, []);
    p.kernelsOf.get(k.node).push(i);
  });
}

// All memory that the program takes, part by part
function memoryBar(needs) {
  const parts =
      [["weights", needs.weights], ["KV cache", needs.cache], ["state", needs.state], ["work", needs.work]].filter(([, n]) => n);
  const all = parts.reduce((sum, [, n]) => sum + n, 0);
  return el(
      "div", {class: "needs", role: "img", "aria-label": "memory: " + parts.map(([what, n]) => `${what} ${bytes(n)}`).join(", ")},
      parts.map(
          ([what, n], i) =>
              el("div", {style: `flex:${n / all} 1 0`, class: "part part-" + i, title: `${what}: ${bytes(n)}`},
                 `${what} ${bytes(n)}`)));
}

// The figures that most readers come for
function headline(s) {
  const all = Object.values(s.needs).reduce((sum, n) => sum + n, 0), run = data.time && data.time.runs[0],
        steps = run && stepsOf(run);
  const speed = run && run.ms > 0 ? 1e3 * steps / run.ms : 0;
  return el(
      "div", {class: "cards headline"},
      run && card(s.context ? "tokens a second, one row a step" : "runs a second", speed < 100 ? speed.toFixed(1) : count(speed)),
      card("memory in all, at most", bytes(all)),
      run && card("of the time threads wait", run.waits ? (100 * run.waiting_ms / run.ms).toFixed(1) + " %" : "0 %"));
}

function summary() {
  const s = data.summary, last = data.programs[data.programs.length - 1];
  document.title = s.name + " – burin report";
  section("title").textContent = s.name;
  const cards = [
    card("kind", s.kind), s.architecture && card("architecture", s.architecture),
    s.description && card("described by", s.description), card("parameters", count(s.parameters)),
    card("weights, packed", bytes(s.weight_bytes)), s.context && card("positions", exact(s.context)),
    card("kernels in a step", exact(last.kernels.length)),
    card(
        last.memory.dynamic_sizes ? "memory of the largest run" : "arena for " + last.memory.rows + " rows",
        bytes(last.memory.arena_bytes)),
    card("identity", s.identity)
  ];
  const costs = data.programs.flatMap(
      (p) => p.costs.map(
          (c) =>
              [p.graph.name, c.step + (c.rows > 1 ? " of " + c.rows + " rows" : ""), number(count(c.sum.operations)),
               number(bytes(c.sum.weight_bytes)), number(bytes(c.sum.bytes))]));
  fill(section("summary"), null, [
    headline(s), memoryBar(s.needs), el("div", {class: "cards"}, cards),
    el("div", {class: "pair"},
       el("div", {}, el("h3", {}, "Weights by format"),
          table(
              ["format", number("tensors"), number("parameters"), number("bytes"), number("bits each")],
              s.formats.map((f) => [f.format, f.tensors, f.parameters, f.bytes, number((8 * f.bytes / f.parameters).toFixed(2))]))),
       el("div", {}, el("h3", {}, "Fusions"),
          table(["pattern", number("matched"), number("missed")], s.fusions.map((f) => [f.pattern, f.matched, f.missed]))),
       el("div", {}, el("h3", {}, "What a step costs"),
          table(["graph", "step", number("operations"), number("weights read"), number("other bytes")], costs)))
  ]);
}
