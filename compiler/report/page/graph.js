// The graph as a drawing, layers folded, and what is known of a node.
// ----------------------------------------------------------------------------------------------------- graph: what is visible
const hidden = (n) => n.op === "constant" || n.op === "pack";

// Layers of a stack in order, each with a text that is equal for equal layers.
function stacksOf(program) {
  const stacks = new Map();
  program.graph.nodes.forEach((n, i) => {
    n.index = i;
    if (hidden(n) || n.stack === undefined) return;
    if (!stacks.has(n.stack)) stacks.set(n.stack, {name: n.stack, layers: new Map(), closed: true, open: new Set()});
    const layers = stacks.get(n.stack).layers;
    if (!layers.has(n.layer)) layers.set(n.layer, []);
    layers.get(n.layer).push(n);
  });
  for (const [name, s] of stacks)
    if (s.layers.size < 2) stacks.delete(name);
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
    else runs.push({stack: s, layers: [l], open: !s.closed && s.open.has(l)});
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
  const add = (box) => {
    boxes.push(box);
    return box;
  };
  for (const s of stacks.values())
    for (const run of runsOf(s)) {
      const nodes = run.layers.flatMap((l) => s.layers.get(l));
      if (run.open) {
        for (const n of nodes) boxOf.set(n, add({node: n, run, order: n.index}));
        continue;
      }
      const kinds = new Set(run.layers.map((l) => s.kind.get(l))).size, many = run.layers.length;
      const label = (s.name === "loop" ? "" : s.name + " ") + layersText(run.layers) +
          (many > 1 ? kinds > 1 ? " (" + kinds + " kinds)" : " ×" + many : "");
      const box = add({run, label, order: Math.min(...nodes.map((n) => n.index))});
      for (const n of nodes) boxOf.set(n, box);
    }
  for (const n of program.graph.nodes)
    if (!hidden(n) && !boxOf.has(n)) boxOf.set(n, add({node: n, order: n.index}));
  const edges = new Map();
  const edge = (from, to, type) => {
    if (from === to || from.order >= to.order) return;
    const key = from.order + " " + to.order;
    if (!edges.has(key)) edges.set(key, {from, to, types: new Set()});
    edges.get(key).types.add(type);
  };
  for (const n of program.graph.nodes)
    if (!hidden(n))
      for (const name of n.in) {
        const from = name !== null && program.nodes.get(name);
        if (from && !hidden(from)) edge(boxOf.get(from), boxOf.get(n), from.type);
      }
  for (const o of program.graph.outputs) {
    const from = program.nodes.get(o.node), box = add({output: o, label: "→ " + o.name, order: 1e9 + boxes.length});
    if (from && boxOf.has(from)) edge(boxOf.get(from), box, from.type);
  }
  return {boxes: boxes.sort((a, b) => a.order - b.order), edges: [...edges.values()], boxOf};
}

// Ranks by the longest path, then places in a rank by the mean of what is read.
function layout(view) {
  const ranks = [], RISE = 62, HEIGHT = 30, GAP = 26;
  for (const b of view.boxes)
    b.rank = 0, b.before = [], b.label = b.label || b.node.op + " %" + b.node.name,
    b.width = Math.min(360, 7.3 * b.label.length + 18);
  for (const e of view.edges) e.to.before.push(e.from);
  for (const b of view.boxes)
    for (const from of b.before) b.rank = Math.max(b.rank, from.rank + 1);
  for (const b of view.boxes)
    if (!b.before.length && !b.run) {
      const readers = view.edges.filter((e) => e.from === b).map((e) => e.to.rank);
      if (readers.length) b.rank = Math.max(0, Math.min(...readers) - 1);
    }
  for (const b of view.boxes) (ranks[b.rank] = ranks[b.rank] || []).push(b);
  let widest = 0;
  for (const rank of ranks)
    if (rank) {
      for (const b of rank) b.wish = b.before.length ? b.before.reduce((sum, f) => sum + (f.x || 0), 0) / b.before.length : 0;
      rank.sort((a, b) => a.wish - b.wish);
      const wide = rank.reduce((sum, b) => sum + b.width + GAP, -GAP),
            middle = rank.reduce((sum, b) => sum + b.wish, 0) / rank.length;
      let x = middle - wide / 2;
      for (const b of rank) b.x = x + b.width / 2, x += b.width + GAP;
    }
  const left = Math.min(...view.boxes.map((b) => b.x - b.width / 2)) - 20;
  for (const b of view.boxes)
    b.x -= left, b.y = 24 + b.rank * RISE, b.height = HEIGHT, widest = Math.max(widest, b.x + b.width / 2);
  return {width: widest + 20, height: 24 + ranks.length * RISE};
}

// ------------------------------------------------------------------------------------------------------- graph: the drawing
const graph = {
  program: null,
  stacks: null,
  chosen: null,
  found: new Set()
};

function drawEdge(e) {
  const y1 = e.from.y + e.from.height, y2 = e.to.y, bend = Math.max(14, (y2 - y1) / 2), types = [...e.types];
  const path =
      svg("path", {class: "edge", d: `M${e.from.x},${y1}C${e.from.x},${y1 + bend} ${e.to.x},${y2 - bend} ${e.to.x},${y2}`},
          svg("title", {}, types.join("\n")));
  const near = e.to.rank - e.from.rank === 1;
  const label = near &&
      svg("text", {class: "soft", x: (e.from.x + e.to.x) / 2 + 4, y: (y1 + y2) / 2 + 4},
          types[0].length < 34 ? types[0] : types[0].slice(0, 32) + "…");
  return [path, label || null];
}

function open(box) {
  const s = box.run.stack;
  if (s.closed) {
    s.closed = false;
    const runs = runsOf(s);
    if (runs.length === 1) s.open.add(s.numbers[0]);
  } else s.open.add(box.run.layers[0]);
  drawGraph();
}

function drawBox(b) {
  const folded = b.run && !b.run.open, action = folded ? () => open(b) : b.node ? () => choose(b.node) : () => {};
  const kind = [
    "box", folded ? "fold" : "", b.output || (b.node && b.node.op === "input") ? "io" : "",
    b.node && b.node === graph.chosen ? "chosen" : "", b.node && graph.found.has(b.node) ? "found" : ""
  ].join(" ").trim();
  const room = Math.floor((b.width - 14) / 7.2), text = b.label.length > room ? b.label.slice(0, room - 1) + "…" : b.label,
        n = b.node;
  const hover = n ? [n.op + " %" + n.name, n.type, n.at.text, n.formula, n.at.scope].filter(Boolean).join("\n") : b.label;
  return svg(
      "g", {class: kind, "data-name": n ? n.name : b.label, "aria-label": b.label, ...press(action)}, svg("title", {}, hover),
      svg("rect", {x: b.x - b.width / 2, y: b.y, width: b.width, height: b.height, rx: 5}),
      svg("text", {x: b.x, y: b.y + 19, "text-anchor": "middle"}, text));
}

// Around the nodes of an open layer, with a head that folds it again.
function drawAround(boxes) {
  const runs = new Map();
  for (const b of boxes)
    if (b.run && b.run.open) {
      if (!runs.has(b.run)) runs.set(b.run, []);
      runs.get(b.run).push(b);
    }
  return [...runs].map(([run, own]) => {
    const x1 = Math.min(...own.map((b) => b.x - b.width / 2)) - 10, x2 = Math.max(...own.map((b) => b.x + b.width / 2)) + 10,
          y1 = Math.min(...own.map((b) => b.y)) - 18, y2 = Math.max(...own.map((b) => b.y + b.height)) + 8;
    const fold = () => {
      run.stack.open.delete(run.layers[0]);
      if (!run.stack.open.size) run.stack.closed = true;
      drawGraph();
    };
    return svg(
        "g", {}, svg("rect", {class: "around", x: x1, y: y1, width: x2 - x1, height: y2 - y1, rx: 8}),
        svg("text", {class: "soft head", x: x1 + 8, y: y1 + 12, "aria-label": "fold " + layersText(run.layers), ...press(fold)},
            "▾ " + (run.stack.name === "loop" ? "" : run.stack.name + " ") + layersText(run.layers)));
  });
}

function drawGraph() {
  const view = visible(graph.program, graph.stacks), size = layout(view);
  const drawing =
      svg("svg", {
        id: "drawing",
        width: size.width,
        height: size.height,
        viewBox: `0 0 ${size.width} ${size.height}`,
        role: "group",
        "aria-label": "graph"
      },
          drawAround(view.boxes), view.edges.map(drawEdge), view.boxes.map(drawBox));
  clear(section("canvas"), drawing);
}

// Unfolds what holds a node, and shows it.
function reveal(n) {
  const s = graph.stacks.get(n.stack);
  if (s && !hidden(n)) s.closed = false, s.open.add(n.layer);
  choose(n);
  const box = [...document.querySelectorAll("#canvas .box")].find((b) => b.getAttribute("data-name") === n.name);
  if (box) box.scrollIntoView({block: "center", inline: "center"});
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ?
      graph.program.graph.nodes.filter(
          (n) => words.every((w) => (n.name + " " + n.op + " " + (n.at.scope || "")).toLowerCase().includes(w))) :
      [];
  graph.found = new Set(hits);
  drawGraph();
  clear(
      section("hits"), hits.length + (hits.length === 1 ? " node " : " nodes "),
      hits.slice(0, 40).map((n) => [el("button", {type: "button", click: () => reveal(n)}, "%" + n.name), " "]));
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
  if (v.buffer !== undefined) {
    const b = p.memory.buffers[v.buffer];
    return `buffer ${b.name} ${v.type}: bytes ${exact(b.offset)} to ${exact(b.offset + b.bytes)}${perRow(p, b)}`;
  }
  if (v.weight !== undefined) return `weight ${v.weight} ${v.type}`;
  if (v.state !== undefined) {
    const s = p.memory.states[v.state];
    return `state ${s.kind} of layer ${s.layer} ${v.type}: ${bytes(s.bytes)} a slot`;
  }
  if (v.input !== undefined) return `input ${v.input} ${v.type}`;
  if (v.output !== undefined) return `output ${p.graph.outputs[v.output] ? p.graph.outputs[v.output].name : v.output} ${v.type}`;
  return `${v.scalar} ${v.type}`;
}
const perRow = (p, b) => p.memory.dynamic_sizes || b.fixed_size ? "" : " of each row";

function kernelFacts(p, position) {
  const k = p.kernels[position], f = p.functions[k.function];
  const costs = p.costs.map(
      (c) =>
          [c.step, number(count(c.kernels[position].operations)), number(bytes(c.kernels[position].weight_bytes)),
           number(bytes(c.kernels[position].bytes))]);
  const measured = timeOfKernel(p, k);
  return [
    el("h3", {}, `kernel ${position}: ${f.name}`),
    el("p", {class: "note"},
       `${f.family}; ${f.uses} calls of this function` + (k.barrier_prefill ? "; threads wait before it" : "") +
           (k.copy ? "; copies an operand" : "") + (measured ? "; " + measured : "")),
    el("ul", {}, k.in.map((v) => el("li", {}, "reads " + viewText(p, v))),
       k.out.map((v) => el("li", {}, "writes " + viewText(p, v)))),
    table(["step", number("operations"), number("weights"), number("other bytes")], costs),
    el("details", {}, el("summary", {}, "emitted C"), el("pre", {class: "c"}, f.c))
  ];
}

function choose(n) {
  graph.chosen = n;
  drawGraph();
  const p = graph.program, kernels = p.kernelsOf.get(n.name) || [], users = p.graph.nodes.filter((u) => u.in.includes(n.name));
  const link = (name) =>
      [el("button", {
         type: "button",
         click: () => {
           const to = p.nodes.get(name);
           if (to) reveal(to);
         }
       },
          "%" + name),
       " "];
  clear(
      section("facts"), el("h3", {}, `%${n.name}: ${n.op}`), el("p", {class: "note"}, data.ops[n.op] || ""),
      el("pre", {class: "text"}, n.text), n.formula ? el("p", {}, "formula ", el("code", {}, n.formula)) : null,
      n.tensor ? el("p", {}, `tensor ${n.tensor}, ${exact(n.parameters)} values, ${bytes(n.bytes)}`) : null,
      el("p", {}, "from ", n.in.filter((i) => i !== null).map(link)),
      el("p", {}, "to ", users.slice(0, 30).map((u) => link(u.name))),
      n.at.text ? el("p", {}, "source ", el("code", {}, n.at.text), n.at.scope ? " in " + n.at.scope : "") : null,
      sourceExcerpt(n.at),
      kernels.length ?
          kernels.map((i) => kernelFacts(p, i)) :
          el("p", {class: "note"},
             hidden(n) ? "Data: kernels read it packed." : "No kernel of its own: a view, an input or a part of another kernel."));
}

function showProgram(p) {
  graph.program = p, graph.stacks = stacksOf(p), graph.chosen = null, graph.found = new Set();
  clear(
      section("facts"),
      el("p", {class: "note"},
         "A click on a box shows its text, its source, its kernel, its C and its memory; a box of layers opens."));
  clear(section("hits"));
  drawGraph();
}

function unfold(all) {
  for (const s of graph.stacks.values()) s.closed = !all, s.open = new Set(all ? s.numbers : []);
  drawGraph();
}

function chooseProgram(show) {
  const options = data.programs.map((p, i) => el("option", {value: i}, p.graph.name));
  return el("label", {}, "graph ", el("select", {change: (e) => show(data.programs[e.target.value])}, options));
}

function graphPart() {
  fill(section("graph"), null, [
    el("div", {class: "tools"}, data.programs.length > 1 ? chooseProgram(showProgram) : null,
       el("label", {}, "search ",
          el("input", {id: "search", type: "search", placeholder: "name, op or place", input: (e) => search(e.target.value)})),
       el("button", {type: "button", id: "fold", click: () => unfold(false)}, "fold"),
       el("button", {type: "button", id: "unfold", click: () => unfold(true)}, "open all layers"), el("span", {id: "hits"})),
    el("div", {class: "split"}, el("div", {class: "scroll", id: "canvas"}), el("aside", {id: "facts"}))
  ]);
  showProgram(data.programs[0]);
}
