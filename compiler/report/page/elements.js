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

function table(heads, rows) {
  const cell = (tag, c) =>
      el(tag, typeof c === "number" || (c && c.n) ? {class: "n"} : {},
         c && c.n                  ? c.text :
             typeof c === "number" ? exact(c) :
                                     c);
  return el(
      "table", {}, el("thead", {}, el("tr", {}, heads.map((h) => cell("th", h)))),
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
    el("div", {class: "cards"}, cards),
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
