"use strict";
// Draws the report from the JSON in the page. Text of the model enters by textContent alone.
const data = JSON.parse(document.getElementById("data").textContent);

// ---------------------------------------------------------------------------------------------------------------- elements
function fill(e, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") e.addEventListener(key, value);
    else if (value !== undefined && value !== false) e.setAttribute(key, value);
  }
  for (const c of children.flat(9)) if (c !== null && c !== undefined) e.append(c);
  return e;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const section = (id) => document.getElementById(id);
const clear = (e, ...children) => { e.replaceChildren(); return fill(e, null, children); };

// A click, or Enter and the space bar.
function press(action) {
  return { tabindex: 0, role: "button", click: action,
    keydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); action(e); } } };
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
  const cell = (tag, c) => el(tag, typeof c === "number" || (c && c.n) ? { class: "n" } : {}, c && c.n ? c.text : typeof c === "number" ? exact(c) : c);
  return el("table", {}, el("thead", {}, el("tr", {}, heads.map((h) => cell("th", h)))),
    el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c) => cell("td", c))))));
}
const number = (text) => ({ n: true, text: String(text) });
const card = (what, value) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, what));

// ----------------------------------------------------------------------------------------------------------------- programs
for (const p of data.programs) {
  p.nodes = new Map(p.graph.nodes.map((n) => [n.name, n]));
  p.kernelsOf = new Map();
  p.kernels.forEach((k, i) => { if (!p.kernelsOf.has(k.node)) p.kernelsOf.set(k.node, []); p.kernelsOf.get(k.node).push(i); });
}

function summary() {
  const s = data.summary, last = data.programs[data.programs.length - 1];
  document.title = s.name + " – burin report";
  section("title").textContent = s.name;
  const cards = [card("kind", s.kind), s.architecture && card("architecture", s.architecture), s.description && card("described by", s.description),
    card("parameters", count(s.parameters)), card("weights, packed", bytes(s.weight_bytes)),
    s.context && card("positions", exact(s.context)), card("kernels in a step", exact(last.kernels.length)),
    card(last.memory.sized_by_run ? "memory of the largest run" : "arena for " + last.memory.rows + " rows", bytes(last.memory.arena_bytes)),
    card("identity", s.identity)];
  const costs = data.programs.flatMap((p) => p.costs.map((c) => [p.graph.name, c.step + (c.rows > 1 ? " of " + c.rows + " rows" : ""),
    number(count(c.sum.operations)), number(bytes(c.sum.weight_bytes)), number(bytes(c.sum.bytes))]));
  fill(section("summary"), null, [el("div", { class: "cards" }, cards),
    el("div", { class: "pair" },
      el("div", {}, el("h3", {}, "Weights by format"), table(["format", number("tensors"), number("parameters"), number("bytes"), number("bits each")],
        s.formats.map((f) => [f.format, f.tensors, f.parameters, f.bytes, number((8 * f.bytes / f.parameters).toFixed(2))]))),
      el("div", {}, el("h3", {}, "Fusions"), table(["pattern", number("matched"), number("missed")], s.fusions.map((f) => [f.pattern, f.matched, f.missed]))),
      el("div", {}, el("h3", {}, "What a step costs"), table(["graph", "step", number("operations"), number("weights read"), number("other bytes")], costs)))]);
}

// ----------------------------------------------------------------------------------------------------- graph: what is visible
const hidden = (n) => n.op === "constant" || n.op === "pack";

// Layers of a stack in order, each with a text that is equal for equal layers.
function stacksOf(program) {
  const stacks = new Map();
  program.graph.nodes.forEach((n, i) => {
    n.index = i;
    if (hidden(n) || n.stack === undefined) return;
    if (!stacks.has(n.stack)) stacks.set(n.stack, { name: n.stack, layers: new Map(), closed: true, open: new Set() });
    const layers = stacks.get(n.stack).layers;
    if (!layers.has(n.layer)) layers.set(n.layer, []);
    layers.get(n.layer).push(n);
  });
  for (const [name, s] of stacks) if (s.layers.size < 2) stacks.delete(name);
  for (const s of stacks.values()) {
    s.numbers = [...s.layers.keys()].sort((a, b) => a - b);
    s.kind = new Map(s.numbers.map((l) => [l, s.layers.get(l).map((n) => n.op + n.type + (n.formula || "")).join("|")]));
  }
  return stacks;
}

// The runs of a stack's layers that are drawn as one box: equal neighbours that are not open.
function runsOf(s) {
  const runs = [];
  for (const l of s.numbers) {
    const last = runs[runs.length - 1];
    if (s.closed && last) last.layers.push(l);
    else if (last && !last.open && !s.open.has(l) && s.kind.get(last.layers[0]) === s.kind.get(l)) last.layers.push(l);
    else runs.push({ stack: s, layers: [l], open: !s.closed && s.open.has(l) });
  }
  return runs;
}

function layersText(layers) {
  const f = layers[0], l = layers[layers.length - 1];
  return f === l ? "layer " + f : "layers " + f + "–" + l;
}

// Boxes: nodes, and runs of layers. Edges between them, with the values that they carry.
function visible(program, stacks) {
  const boxOf = new Map(), boxes = [];
  const add = (box) => { boxes.push(box); return box; };
  for (const s of stacks.values())
    for (const run of runsOf(s)) {
      const nodes = run.layers.flatMap((l) => s.layers.get(l));
      if (run.open) { for (const n of nodes) boxOf.set(n, add({ node: n, run, order: n.index })); continue; }
      const kinds = new Set(run.layers.map((l) => s.kind.get(l))).size, many = run.layers.length;
      const label = (s.name === "loop" ? "" : s.name + " ") + layersText(run.layers) + (many > 1 ? kinds > 1 ? " (" + kinds + " kinds)" : " ×" + many : "");
      const box = add({ run, label, order: Math.min(...nodes.map((n) => n.index)) });
      for (const n of nodes) boxOf.set(n, box);
    }
  for (const n of program.graph.nodes) if (!hidden(n) && !boxOf.has(n)) boxOf.set(n, add({ node: n, order: n.index }));
  const edges = new Map();
  const edge = (from, to, type) => {
    if (from === to || from.order >= to.order) return;
    const key = from.order + " " + to.order;
    if (!edges.has(key)) edges.set(key, { from, to, types: new Set() });
    edges.get(key).types.add(type);
  };
  for (const n of program.graph.nodes) if (!hidden(n))
    for (const name of n.in) { const from = name !== null && program.nodes.get(name); if (from && !hidden(from)) edge(boxOf.get(from), boxOf.get(n), from.type); }
  for (const o of program.graph.outputs) {
    const from = program.nodes.get(o.node), box = add({ output: o, label: "→ " + o.name, order: 1e9 + boxes.length });
    if (from && boxOf.has(from)) edge(boxOf.get(from), box, from.type);
  }
  return { boxes: boxes.sort((a, b) => a.order - b.order), edges: [...edges.values()], boxOf };
}

// Ranks by the longest path, then places in a rank by the mean of what is read.
function layout(view) {
  const ranks = [], RISE = 62, HEIGHT = 30, GAP = 26;
  for (const b of view.boxes) b.rank = 0, b.before = [], b.label = b.label || b.node.op + " %" + b.node.name, b.width = Math.min(360, 7.3 * b.label.length + 18);
  for (const e of view.edges) e.to.before.push(e.from);
  for (const b of view.boxes) for (const from of b.before) b.rank = Math.max(b.rank, from.rank + 1);
  for (const b of view.boxes) if (!b.before.length && !b.run) {
    const readers = view.edges.filter((e) => e.from === b).map((e) => e.to.rank);
    if (readers.length) b.rank = Math.max(0, Math.min(...readers) - 1);
  }
  for (const b of view.boxes) (ranks[b.rank] = ranks[b.rank] || []).push(b);
  let widest = 0;
  for (const rank of ranks) if (rank) {
    for (const b of rank) b.wish = b.before.length ? b.before.reduce((sum, f) => sum + (f.x || 0), 0) / b.before.length : 0;
    rank.sort((a, b) => a.wish - b.wish);
    const wide = rank.reduce((sum, b) => sum + b.width + GAP, -GAP), middle = rank.reduce((sum, b) => sum + b.wish, 0) / rank.length;
    let x = middle - wide / 2;
    for (const b of rank) b.x = x + b.width / 2, x += b.width + GAP;
  }
  const left = Math.min(...view.boxes.map((b) => b.x - b.width / 2)) - 20;
  for (const b of view.boxes) b.x -= left, b.y = 24 + b.rank * RISE, b.height = HEIGHT, widest = Math.max(widest, b.x + b.width / 2);
  return { width: widest + 20, height: 24 + ranks.length * RISE };
}

// ------------------------------------------------------------------------------------------------------- graph: the drawing
const graph = { program: null, stacks: null, chosen: null, found: new Set() };

function drawEdge(e) {
  const y1 = e.from.y + e.from.height, y2 = e.to.y, bend = Math.max(14, (y2 - y1) / 2), types = [...e.types];
  const path = svg("path", { class: "edge", d: `M${e.from.x},${y1}C${e.from.x},${y1 + bend} ${e.to.x},${y2 - bend} ${e.to.x},${y2}` }, svg("title", {}, types.join("\n")));
  const near = e.to.rank - e.from.rank === 1;
  const label = near && svg("text", { class: "soft", x: (e.from.x + e.to.x) / 2 + 4, y: (y1 + y2) / 2 + 4 }, types[0].length < 34 ? types[0] : types[0].slice(0, 32) + "…");
  return [path, label || null];
}

function open(box) {
  const s = box.run.stack;
  if (s.closed) { s.closed = false; const runs = runsOf(s); if (runs.length === 1) s.open.add(s.numbers[0]); }
  else s.open.add(box.run.layers[0]);
  drawGraph();
}

function drawBox(b) {
  const folded = b.run && !b.run.open, action = folded ? () => open(b) : b.node ? () => choose(b.node) : () => {};
  const kind = ["box", folded ? "fold" : "", b.output || (b.node && b.node.op === "input") ? "io" : "", b.node && b.node === graph.chosen ? "chosen" : "",
    b.node && graph.found.has(b.node) ? "found" : ""].join(" ").trim();
  const room = Math.floor((b.width - 14) / 7.2), text = b.label.length > room ? b.label.slice(0, room - 1) + "…" : b.label, n = b.node;
  const hover = n ? [n.op + " %" + n.name, n.type, n.at.text, n.formula, n.at.scope].filter(Boolean).join("\n") : b.label;
  return svg("g", { class: kind, "data-name": n ? n.name : b.label, "aria-label": b.label, ...press(action) }, svg("title", {}, hover),
    svg("rect", { x: b.x - b.width / 2, y: b.y, width: b.width, height: b.height, rx: 5 }),
    svg("text", { x: b.x, y: b.y + 19, "text-anchor": "middle" }, text));
}

// Around the nodes of an open layer, with a head that folds it again.
function drawAround(boxes) {
  const runs = new Map();
  for (const b of boxes) if (b.run && b.run.open) { if (!runs.has(b.run)) runs.set(b.run, []); runs.get(b.run).push(b); }
  return [...runs].map(([run, own]) => {
    const x1 = Math.min(...own.map((b) => b.x - b.width / 2)) - 10, x2 = Math.max(...own.map((b) => b.x + b.width / 2)) + 10,
      y1 = Math.min(...own.map((b) => b.y)) - 18, y2 = Math.max(...own.map((b) => b.y + b.height)) + 8;
    const fold = () => { run.stack.open.delete(run.layers[0]); if (!run.stack.open.size) run.stack.closed = true; drawGraph(); };
    return svg("g", {}, svg("rect", { class: "around", x: x1, y: y1, width: x2 - x1, height: y2 - y1, rx: 8 }),
      svg("text", { class: "soft head", x: x1 + 8, y: y1 + 12, "aria-label": "fold " + layersText(run.layers), ...press(fold) },
        "▾ " + (run.stack.name === "loop" ? "" : run.stack.name + " ") + layersText(run.layers)));
  });
}

function drawGraph() {
  const view = visible(graph.program, graph.stacks), size = layout(view);
  const drawing = svg("svg", { id: "drawing", width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "group", "aria-label": "graph" },
    drawAround(view.boxes), view.edges.map(drawEdge), view.boxes.map(drawBox));
  clear(section("canvas"), drawing);
}

// Unfolds what holds a node, and shows it.
function reveal(n) {
  const s = graph.stacks.get(n.stack);
  if (s && !hidden(n)) s.closed = false, s.open.add(n.layer);
  choose(n);
  const box = [...document.querySelectorAll("#canvas .box")].find((b) => b.getAttribute("data-name") === n.name);
  if (box) box.scrollIntoView({ block: "center", inline: "center" });
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? graph.program.graph.nodes.filter((n) => words.every((w) => (n.name + " " + n.op + " " + (n.at.scope || "")).toLowerCase().includes(w))) : [];
  graph.found = new Set(hits);
  drawGraph();
  clear(section("hits"), hits.length + (hits.length === 1 ? " node " : " nodes "), hits.slice(0, 40).map((n) => [el("button", { type: "button", click: () => reveal(n) }, "%" + n.name), " "]));
}

// ---------------------------------------------------------------------------------------------------- graph: one node's facts
function sourceExcerpt(at) {
  const source = data.sources.find((s) => s.name === at.source);
  if (!source) return null;
  const lines = source.text.split("\n"), first = Math.max(0, at.line - 3);
  return el("pre", {}, lines.slice(first, at.line + 2).map((line, i) => {
    const text = String(first + i + 1).padStart(4) + "  " + line + "\n";
    return first + i + 1 === at.line ? el("mark", {}, text) : text;
  }));
}

function viewText(p, v) {
  if (v.buffer !== undefined) { const b = p.memory.buffers[v.buffer]; return `buffer ${b.name} ${v.type}: bytes ${exact(b.offset)} to ${exact(b.offset + b.bytes)}${perRow(p, b)}`; }
  if (v.weight !== undefined) return `weight ${v.weight} ${v.type}`;
  if (v.state !== undefined) { const s = p.memory.states[v.state]; return `state ${s.kind} of layer ${s.layer} ${v.type}: ${bytes(s.bytes)} a slot`; }
  if (v.input !== undefined) return `input ${v.input} ${v.type}`;
  if (v.output !== undefined) return `output ${p.graph.outputs[v.output] ? p.graph.outputs[v.output].name : v.output} ${v.type}`;
  return `${v.scalar} ${v.type}`;
}
const perRow = (p, b) => p.memory.sized_by_run || b.whole ? "" : " of each row";

function kernelFacts(p, position) {
  const k = p.kernels[position], f = p.functions[k.function];
  const costs = p.costs.map((c) => [c.step, number(count(c.kernels[position].operations)), number(bytes(c.kernels[position].weight_bytes)), number(bytes(c.kernels[position].bytes))]);
  const measured = timeOfKernel(p, k);
  return [el("h3", {}, `kernel ${position}: ${f.name}`),
    el("p", { class: "note" }, `${f.family}; ${f.uses} calls of this function` + (k.barrier_many ? "; threads wait before it" : "") + (k.copy ? "; copies an operand" : "") + (measured ? "; " + measured : "")),
    el("ul", {}, k.in.map((v) => el("li", {}, "reads " + viewText(p, v))), k.out.map((v) => el("li", {}, "writes " + viewText(p, v)))),
    table(["step", number("operations"), number("weights"), number("other bytes")], costs),
    el("details", {}, el("summary", {}, "emitted C"), el("pre", { class: "c" }, f.c))];
}

function choose(n) {
  graph.chosen = n;
  drawGraph();
  const p = graph.program, kernels = p.kernelsOf.get(n.name) || [], users = p.graph.nodes.filter((u) => u.in.includes(n.name));
  const link = (name) => [el("button", { type: "button", click: () => { const to = p.nodes.get(name); if (to) reveal(to); } }, "%" + name), " "];
  clear(section("facts"), el("h3", {}, `%${n.name}: ${n.op}`), el("p", { class: "note" }, data.ops[n.op] || ""), el("pre", { class: "text" }, n.text),
    n.formula ? el("p", {}, "formula ", el("code", {}, n.formula)) : null,
    n.tensor ? el("p", {}, `tensor ${n.tensor}, ${exact(n.parameters)} values, ${bytes(n.bytes)}`) : null,
    el("p", {}, "from ", n.in.filter((i) => i !== null).map(link)), el("p", {}, "to ", users.slice(0, 30).map((u) => link(u.name))),
    n.at.text ? el("p", {}, "source ", el("code", {}, n.at.text), n.at.scope ? " in " + n.at.scope : "") : null, sourceExcerpt(n.at),
    kernels.length ? kernels.map((i) => kernelFacts(p, i)) : el("p", { class: "note" }, hidden(n) ? "Data: kernels read it packed." : "No kernel of its own: a view, an input or a part of another kernel."));
}

function showProgram(p) {
  graph.program = p, graph.stacks = stacksOf(p), graph.chosen = null, graph.found = new Set();
  clear(section("facts"), el("p", { class: "note" }, "A click on a box shows its text, its source, its kernel, its C and its memory; a box of layers opens."));
  clear(section("hits"));
  drawGraph();
}

function unfold(all) {
  for (const s of graph.stacks.values()) s.closed = !all, s.open = new Set(all ? s.numbers : []);
  drawGraph();
}

function chooseProgram(show) {
  const options = data.programs.map((p, i) => el("option", { value: i }, p.graph.name));
  return el("label", {}, "graph ", el("select", { change: (e) => show(data.programs[e.target.value]) }, options));
}

function graphPart() {
  fill(section("graph"), null, [el("div", { class: "tools" }, data.programs.length > 1 ? chooseProgram(showProgram) : null,
    el("label", {}, "search ", el("input", { id: "search", type: "search", placeholder: "name, op or place", input: (e) => search(e.target.value) })),
    el("button", { type: "button", id: "fold", click: () => unfold(false) }, "fold"), el("button", { type: "button", id: "unfold", click: () => unfold(true) }, "open all layers"),
    el("span", { id: "hits" })), el("div", { class: "split" }, el("div", { class: "scroll", id: "canvas" }), el("aside", { id: "facts" }))]);
  showProgram(data.programs[0]);
}

// ------------------------------------------------------------------------------------------------------------------- passes
function opsTable(before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((o) => before[o] !== after[o]).sort();
  if (!names.length) return el("p", { class: "note" }, "The counts of ops stay.");
  return table(["op", number("before"), number("after")], names.map((o) => [o, before[o] || 0, after[o] || 0]));
}

const times = (n) => (n > 1 ? "×" + n + "  " : "");
function sides(g) {
  const rows = [...g.changed.map((e) => [e.before, e.after, e.count]), ...g.vanished.map((e) => [e.before, null, e.count]), ...g.appeared.map((e) => [null, e.after, e.count])];
  return el("div", { class: "sides" }, rows.map(([before, after, n]) => [
    before === null ? el("span") : el("pre", { class: "gone" }, times(n) + before), after === null ? el("span") : el("pre", { class: "fresh" }, times(n) + after)]));
}

const total = (list) => list.reduce((sum, e) => sum + e.count, 0);
function passOfGraph(g, i) {
  const before = i ? data.passes[i - 1].graphs.find((o) => o.graph === g.graph) : null;
  const counts = [["vanished", total(g.vanished)], ["changed", total(g.changed)], ["appeared", total(g.appeared)]];
  return [el("h3", {}, g.graph), el("p", {}, `${exact(g.nodes)} nodes` + (before ? `, ${exact(before.nodes)} before: ` : ": ") + counts.map(([w, n]) => n + " " + w).join(", ")),
    counts.every(([, n]) => !n) ? el("p", { class: "note" }, "Nothing to do here.") : [el("details", { open: i > 0 }, el("summary", {}, "ops"), opsTable(before ? before.ops : {}, g.ops)), sides(g)]];
}

// Equal sites of many layers are one row.
function sitesTable(sites) {
  const rows = new Map();
  for (const s of sites) {
    const where = (s.at.text || "").replace(/#\d+|node \d+/g, "") + " " + (s.at.scope || "").replace(/\b\d+\b/g, "*"), key = [s.pattern, s.missed, where, s.why].join("|");
    if (!rows.has(key)) rows.set(key, { ...s, where, times: 0 });
    rows.get(key).times++;
  }
  return table(["pattern", "", number("sites"), "where", "node", "why"], [...rows.values()].map((s) => [s.pattern, s.missed ? "missed" : "matched", s.times, s.where, s.node ? "%" + s.node : "", s.why || ""]));
}

function showPass(i) {
  const p = data.passes[i], sites = data.sites.filter((s) => s.pass === p.name);
  section("pass-name").textContent = `${i} of ${data.passes.length - 1}: ${p.name}` + (p.group === p.name ? "" : ` (${p.group})`);
  clear(section("pass"), el("p", {}, p.help + "."), sites.length ? [el("h3", {}, "Fusion sites that this pass saw"), sitesTable(sites)] : null, p.graphs.map((g) => passOfGraph(g, i)));
}

function passesPart() {
  const first = Math.max(0, data.passes.findIndex((p) => p.name === "fuse_attention"));
  fill(section("passes"), null, [el("div", { class: "tools" }, el("input", { type: "range", id: "slider", min: 0, max: data.passes.length - 1, value: first, "aria-label": "pass", input: (e) => showPass(+e.target.value) }),
    el("b", { id: "pass-name" })), el("div", { id: "pass" }),
  el("details", {}, el("summary", {}, `all ${data.sites.length} fusion sites`), sitesTable(data.sites))]);
  if (data.passes.length) showPass(first);
}

// ------------------------------------------------------------------------------------------------------------------- memory
const colour = (i) => `hsl(${(i * 137.5) % 360} 45% 55%)`;

function bufferFacts(p, b) {
  const writers = p.kernels.map((k, i) => [k, i]).filter(([k]) => k.out.some((v) => v.buffer !== undefined && p.memory.buffers[v.buffer] === b));
  const names = [...new Set(writers.map(([k]) => k.node))];
  return [el("h3", {}, b.name), el("p", {}, `${b.type}, ${exact(b.bytes)} bytes${perRow(p, b)} from ${exact(b.offset)}` +
    (b.row_wise ? "; with one row each thread has its own, from " + exact(b.local_offset) : b.single_offset !== undefined && b.single_offset !== b.offset ? "; with one row from " + exact(b.single_offset) : "")),
  el("p", {}, "holds ", names.slice(0, 12).map((n) => "%" + n + " ").join(""), names.length > 12 ? `and ${names.length - 12} more` : ""),
  el("p", {}, "alive " + b.live.slice(0, 6).map(([a, z]) => a === z ? "in kernel " + a : `from kernel ${a} to ${z}`).join(", ") + (b.live.length > 6 ? ` and ${b.live.length - 6} times more` : ""))];
}

function memoryPicture(p, facts) {
  const m = p.memory, all = m.buffers.map((b, i) => ({ b, i })).filter(({ b }) => m.sized_by_run || !b.whole), n = Math.max(1, p.kernels.length);
  const most = Math.max(1, ...all.map(({ b }) => b.offset + b.bytes)), W = Math.max(860, Math.min(3000, 5 * n)), H = 300, X = 76, x = (k) => X + k * W / n, y = (o) => H - o / most * (H - 20);
  const bound = m.sized_by_run ? m.lower_bound : m.lower_bound / m.rows, mark = (o) => svg("text", { class: "soft", x: X - 6, y: y(o) + 4, "text-anchor": "end" }, bytes(Math.round(o)).replace(" bytes", " B"));
  const bands = p.loop ? [...Array(p.loop.iterations).keys()].filter((i) => i % 2).map((i) => svg("rect", { class: "band", x: x(p.loop.first + i * p.loop.period), y: 10, width: p.loop.period * W / n, height: H - 10 })) : [];
  const rects = all.flatMap(({ b, i }) => b.live.map(([first, last]) => svg("rect", { class: "buffer", fill: colour(i), "data-buffer": b.name, x: x(first), y: y(b.offset + b.bytes), width: Math.max(1, x(last + 1) - x(first)), height: Math.max(1, y(b.offset) - y(b.offset + b.bytes)),
    click: () => { document.querySelectorAll(".buffer").forEach((r) => r.classList.toggle("chosen", r.getAttribute("data-buffer") === b.name)); clear(facts, bufferFacts(p, b)); } },
  svg("title", {}, `${b.name}: ${exact(b.bytes)} bytes${perRow(p, b)}\nkernels ${first} to ${last}`))));
  const wide = all.flatMap(({ b }) => b.live.map(([f, l]) => ({ b, f, l }))).filter(({ b, f, l }) => x(l + 1) - x(f) > 8 * b.name.length && y(b.offset) - y(b.offset + b.bytes) > 13)
    .map(({ b, f }) => svg("text", { x: x(f) + 4, y: y(b.offset) - 4, "pointer-events": "none" }, b.name));
  return svg("svg", { class: "plan", width: X + W + 10, height: H + 40, viewBox: `0 0 ${X + W + 10} ${H + 40}`, role: "img", "aria-label": "buffers over kernels" }, bands, rects, wide,
    svg("line", { class: "lower", x1: X, x2: X + W, y1: y(bound), y2: y(bound) }), svg("line", { class: "peak", x1: x(m.peak.kernel + .5), x2: x(m.peak.kernel + .5), y1: 10, y2: H }),
    mark(0), mark(bound), mark(most) && (most > bound * 1.06 ? mark(most) : null),
    svg("text", { class: "soft", x: X, y: H + 16 }, "kernel 0"), svg("text", { class: "soft", x: X + W, y: H + 16, "text-anchor": "end" }, "kernel " + (n - 1)),
    svg("text", { class: "soft", x: X + W / 2, y: H + 32, "text-anchor": "middle" }, "kernels in order" + (p.loop ? `; bands are ${p.loop.iterations} iterations of the loop over layers` : "") + "; dashed: the lower bound"));
}

function memoryOfProgram(p) {
  const m = p.memory, facts = el("div", {}), peak = p.kernels[m.peak.kernel], whole = m.sized_by_run ? 1 : m.rows;
  const rows = [[m.sized_by_run ? "memory of the largest run" : `arena for ${m.rows} rows`, m.arena_bytes], ["lower bound (what must lie apart)", m.lower_bound], ["local, each thread", m.local_bytes],
    ["scratch", m.sized_by_run ? 0 : m.scratch_bytes], ["state, each slot", m.slot_bytes], ["of it KV cache", m.cache_bytes], ["weights of this graph", m.weight_bytes]].filter(([, n]) => n);
  const limit = peak ? [el("p", {}, `Most is live at kernel ${m.peak.kernel}, ${p.functions[peak.function].name} (%${peak.node}): ${bytes(m.peak.bytes * whole)}, ` +
    (m.arena_bytes === m.lower_bound ? "and the plan needs no byte more." : `the plan needs ${(100 * (m.arena_bytes / m.lower_bound - 1)).toFixed(1)} % more.`)),
  table(["buffer", "type", number(m.sized_by_run ? "bytes" : "bytes a row")], m.peak.buffers.map((i) => [m.buffers[i].name, m.buffers[i].type, m.buffers[i].bytes]))] : null;
  return [el("h3", {}, p.graph.name), el("div", { class: "pair" }, table(["", number("bytes")], rows), el("div", {}, limit)), el("div", { class: "scroll" }, memoryPicture(p, facts)), facts];
}

function memoryPart() { fill(section("memory"), null, [data.programs.map(memoryOfProgram)]); }

// --------------------------------------------------------------------------------------------------------- time and attention
function timeOfKernel(p, k) {
  const f = p.functions[k.function].name, first = p.kernels.find((o) => o.site === k.site);
  const site = data.time && data.time.runs[0].sites.find((s) => s.graph === p.graph.name && s.function === f && s.node === first.node);
  return site ? `${(1e3 * site.ms / site.calls).toFixed(1)} µs a call (${data.time.runs[0].step})` : "";
}

const percent = (part, all) => number(all > 0 ? (100 * part / all).toFixed(1) + " %" : "");
const bar = (share) => el("span", { class: "bar", style: `width:${Math.max(1, Math.round(150 * Math.min(1, share)))}px` });

// Operations for each byte across, operations a second up, both by their logarithm; the roof is what this machine gives.
function roofline(run) {
  const limits = data.time.limits, W = 560, H = 250, X = 66, points = run.sites.filter((s) => s.operations > 0 && s.ms > 0);
  if (!points.length || !(limits.read > 0)) return null;
  const reach = points.map((s) => [s.operations / Math.max(1, s.weight_bytes + s.bytes), 1e3 * s.operations / s.ms, s]);
  const roof = Math.max(limits.fma, points.some((s) => s.function.includes("q8") || s.function.includes("_q4")) ? limits.dot : 0);
  const low = Math.floor(Math.log10(Math.min(...reach.map((r) => r[0]), .1))), high = Math.ceil(Math.log10(Math.max(...reach.map((r) => r[0]), 100)));
  const top = Math.ceil(Math.log10(Math.max(roof, ...reach.map((r) => r[1])))), bottom = Math.floor(Math.log10(Math.max(1, Math.min(...reach.map((r) => r[1])))));
  const x = (v) => X + (Math.log10(v) - low) / (high - low) * W, y = (v) => 10 + (top - Math.log10(v)) / (top - bottom) * H;
  const knee = roof / limits.read, left = Math.max(10 ** low, 10 ** bottom / limits.read);
  const ticks = [...Array(top - bottom + 1).keys()].map((i) => svg("text", { class: "soft", x: X - 6, y: y(10 ** (bottom + i)) + 4, "text-anchor": "end" }, count(10 ** (bottom + i)) + "/s"));
  const across = [...Array(high - low + 1).keys()].map((i) => svg("text", { class: "soft", x: x(10 ** (low + i)), y: H + 26, "text-anchor": "middle" }, String(+(10 ** (low + i)).toPrecision(2))));
  return svg("svg", { width: X + W + 20, height: H + 46, viewBox: `0 0 ${X + W + 20} ${H + 46}`, role: "img", "aria-label": "roofline" }, ticks, across,
    svg("path", { class: "lower", fill: "none", d: `M${x(left)},${y(left * limits.read)}L${x(Math.min(knee, 10 ** high))},${y(Math.min(knee, 10 ** high) * limits.read)}L${x(10 ** high)},${y(Math.min(roof, 10 ** high * limits.read))}` }),
    reach.map(([i, r, s]) => svg("circle", { cx: x(i), cy: y(r), r: 3 + 12 * Math.sqrt(s.ms / run.ms), fill: colour(run.sites.indexOf(s)), "fill-opacity": .7 }, svg("title", {}, `${s.function}\n${s.location}\n${s.ms} ms of ${run.ms.toFixed(2)}`))),
    svg("text", { class: "soft", x: X + W / 2, y: H + 42, "text-anchor": "middle" }, "operations for each byte; dashed: what memory and arithmetic give here"));
}

// Times that belong together, largest first.
function sumBy(run, key) {
  const sums = new Map();
  for (const s of run.sites) sums.set(key(s), (sums.get(key(s)) || 0) + s.ms);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

function runPart(run) {
  const rows = run.sites.map((s) => [s.function, s.location, s.calls, number(s.ms.toFixed(2)), percent(s.ms, run.ms), bar(s.ms / run.ms), number((1e3 * s.ms / s.calls).toFixed(1)),
    number(s.weight_bytes ? bytes(Math.round(s.weight_bytes / s.calls)) : ""), number(s.operations ? count(s.operations / s.calls) : ""), s.least_ms ? percent(s.least_ms, s.ms) : number("")]);
  const by = (what, key) => el("div", {}, el("h3", {}, "By " + what), table([what, number("ms"), number("share")], sumBy(run, key).slice(0, 20).map(([name, ms]) => [name, number(ms.toFixed(2)), percent(ms, run.ms)])));
  return [el("h3", {}, run.step), el("p", {}, `${run.ms.toFixed(2)} ms in all (thread 0), ${run.waits ? `${exact(run.waits)} waits for other threads took ${run.waiting_ms.toFixed(2)} ms, ${(100 * run.waiting_ms / run.ms).toFixed(1)} %` : "no waiting"}.`),
    el("div", { class: "scroll" }, table(["kernel", "place", number("calls"), number("ms"), number("share"), "", number("µs a call"), number("weights"), number("operations"), number("of its limit")], rows)),
    el("div", { class: "pair" }, roofline(run), by("source line", (s) => s.location.split(" ")[0]), by("part", (s) => s.location.split(" ").slice(1).join(" ") || "the rest"))];
}

function timePart() {
  if (!data.time) return fill(section("time"), null, [el("p", { class: "note" }, "Not measured: burin report MODEL --run measures each kernel on this machine.")]);
  const t = data.time, l = t.limits;
  return fill(section("time"), null, [el("div", { class: "cards" }, card("code for", t.cpu), card("threads", t.threads), card("memory, of as many bytes as the weights", bytes(l.read) + "/s"),
    card("f32 multiply-adds", count(l.fma) + " op/s"), card("int8 products", count(l.dot) + " op/s")),
  el("p", { class: "note" }, "The share of its limit: how long reading weights and caches, or computing, takes at the least here, of the time that it took."), t.runs.map(runPart)]);
}
// Shares of a layer: at(row, head, key) from 0 to 1.
function sharesOf(l) {
  const text = atob(l.shares);
  return (row, head, key) => text.charCodeAt((row * l.heads + head) * l.keys + key) / 255;
}

// Which tokens ask, and which are seen: a decoder's own, or what an encoder read.
function tokensOf(l) {
  const lists = data.attention.tokens, own = lists.find((t) => t.graph === l.graph) || lists[0], fits = (t, n) => t && t.tokens.length >= n;
  const seen = fits(own, l.keys) && !(lists.length > 1 && l.at.scope && /(cross|encoder_attn|encdecattention)/i.test(l.at.scope)) ? own : lists.find((t) => t !== own && fits(t, l.keys)) || own;
  return { asking: own.tokens, seen: seen.tokens };
}

const shown = (token) => token.replace(/ /g, "␣").replace(/\n/g, "⏎");
const attention = { layer: null, head: 0, row: 0 };

function heatOf(l, head) {
  const at = sharesOf(l), canvas = el("canvas", { class: "heat", width: l.keys, height: l.rows, role: "button", tabindex: 0, "aria-label": `${l.node}, head ${head}` });
  const size = Math.max(64, Math.min(160, 8 * l.keys));
  canvas.style.width = size + "px", canvas.style.height = Math.round(size * l.rows / l.keys) + "px";
  const context = canvas.getContext("2d"), image = context.createImageData(l.keys, l.rows);
  for (let r = 0; r < l.rows; r++) for (let k = 0; k < l.keys; k++) image.data.set([138, 59, 18, Math.round(255 * Math.sqrt(at(r, head, k)))], 4 * (r * l.keys + k));
  context.putImageData(image, 0, 0);
  const pick = (row) => { Object.assign(attention, { layer: l, head, row }); drawTokens(); };
  canvas.addEventListener("click", (e) => pick(Math.min(l.rows - 1, Math.max(0, Math.floor(e.offsetY / canvas.clientHeight * l.rows)))));
  canvas.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); pick(l.rows - 1); } });
  return el("figure", {}, canvas, el("figcaption", {}, "head " + head));
}

// The tokens that the chosen one sees, by their shares; a click chooses another.
function drawTokens() {
  const { layer: l, head, row } = attention, at = sharesOf(l), { asking, seen } = tokensOf(l);
  const most = seen.slice(0, l.keys).map((t, k) => [t, k, at(row, head, k)]).sort((a, b) => b[2] - a[2]).slice(0, 8);
  const span = (t, chosen, share, action) => [el("span", { class: chosen ? "chosen" : "", style: `background: rgb(200 90 30 / ${share})`, title: (100 * share).toFixed(1) + " %", ...(action ? press(action) : {}) }, shown(t)), " "];
  clear(section("tokens"), el("h3", {}, `${l.at.scope || "%" + l.node}, head ${head}: what “${shown(asking[row] || "")}” sees`),
    el("p", { class: "tokens" }, "token ", asking.slice(0, l.rows).map((t, r) => span(t, r === row, 0, () => { attention.row = r; drawTokens(); }))),
    el("p", { class: "tokens" }, "sees ", seen.slice(0, l.keys).map((t, k) => span(t, false, at(row, head, k)))),
    table(["most attended", number("position"), number("share")], most.map(([t, k, s]) => [shown(t), k, number((100 * s).toFixed(1) + " %")])));
}

function attentionPart() {
  const a = data.attention;
  if (!a) return fill(section("attention"), null, [el("p", { class: "note" }, "No text was given: burin report MODEL --text \"...\" shows what each head attends to.")]);
  fill(section("attention"), null, [el("p", {}, "Text: ", el("code", {}, a.text), ". Rows of a picture are tokens that ask, columns the tokens that they see; darker is more."), el("div", { id: "tokens" }),
    a.layers.map((l, i) => el("details", { open: i < 4 }, el("summary", {}, `${l.at.scope || "%" + l.node} (${l.graph}): ${l.heads} heads, ${l.rows} × ${l.keys}`), el("div", { class: "heats" }, [...Array(l.heads).keys()].map((h) => heatOf(l, h)))))]);
  if (!a.layers.length) return fill(section("attention"), null, [el("p", { class: "note" }, "This model has no attention.")]);
  Object.assign(attention, { layer: a.layers[0], head: 0, row: a.layers[0].rows - 1 });
  return drawTokens();
}

// ------------------------------------------------------------------------------------------------------------------- source
function sourcePart() {
  const list = data.sources.map((s) => el("details", {}, el("summary", {}, s.name), el("pre", {}, s.text)));
  fill(section("source"), null, [list.length ? list : el("p", { class: "note" }, "The model is no text."), el("p", { class: "note" }, `burin ${data.burin}, ${data.format}. The data of this page is the JSON in the element #data.`)]);
}

for (const part of [summary, graphPart, passesPart, memoryPart, timePart, attentionPart, sourcePart]) part();
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
