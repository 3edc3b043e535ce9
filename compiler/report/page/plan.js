// What each pass did, and the memory plan.
// ------------------------------------------------------------------------------------------------------------------- passes
function opsTable(before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((o) => before[o] !== after[o]).sort();
  if (!names.length) return el("p", {class: "note"}, "The counts of ops stay.");
  return table(["op", number("before"), number("after")], names.map((o) => [o, before[o] || 0, after[o] || 0]));
}

const times = (n) => (n > 1 ? "×" + n + "  " : "");
function sides(g) {
  const rows = [
    ...g.changed.map((e) => [e.before, e.after, e.count]), ...g.vanished.map((e) => [e.before, null, e.count]),
    ...g.appeared.map((e) => [null, e.after, e.count])
  ];
  return el(
      "div", {class: "sides"},
      rows.map(
          ([before, after, n]) =>
              [before === null ? el("span") : el("pre", {class: "gone"}, times(n) + before),
               after === null ? el("span") : el("pre", {class: "fresh"}, times(n) + after)]));
}

const total = (list) => list.reduce((sum, e) => sum + e.count, 0);
function passOfGraph(g, i) {
  const before = i ? data.passes[i - 1].graphs.find((o) => o.graph === g.graph) : null;
  const counts = [["vanished", total(g.vanished)], ["changed", total(g.changed)], ["appeared", total(g.appeared)]];
  return [
    el("h3", {}, g.graph),
    el("p", {},
       `${exact(g.nodes)} nodes` + (before ? `, ${exact(before.nodes)} before: ` : ": ") +
           counts.map(([w, n]) => n + " " + w).join(", ")),
    counts.every(([, n]) => !n) ?
        el("p", {class: "note"}, "Nothing to do here.") :
        [el("details", {open: i > 0}, el("summary", {}, "ops"), opsTable(before ? before.ops : {}, g.ops)), sides(g)]
  ];
}

// Equal sites of many layers are one row.
function sitesTable(sites) {
  const rows = new Map();
  for (const s of sites) {
    const where = (s.at.text || "").replace(/#\d+|node \d+/g, "") + " " + (s.at.scope || "").replace(/\b\d+\b/g, "*"),
          key = [s.pattern, s.missed, where, s.why].join("|");
    if (!rows.has(key)) rows.set(key, {...s, where, times: 0});
    rows.get(key).times++;
  }
  return table(["pattern", "", number("sites"), "where", "node", "why"], [
    ...rows.values()
  ].map((s) => [s.pattern, s.missed ? "missed" : "matched", s.times, s.where, s.node ? "%" + s.node : "", s.why || ""]));
}

function showPass(i) {
  const p = data.passes[i], sites = data.sites.filter((s) => s.pass === p.name);
  section("pass-name").textContent = `${i} of ${data.passes.length - 1}: ${p.name}` + (p.group === p.name ? "" : ` (${p.group})`);
  clear(
      section("pass"), el("p", {}, p.help + "."),
      sites.length ? [el("h3", {}, "Fusion sites that this pass saw"), sitesTable(sites)] : null,
      p.graphs.map((g) => passOfGraph(g, i)));
}

function passesPart() {
  const first = Math.max(0, data.passes.findIndex((p) => p.name === "fuse_attention"));
  fill(section("passes"), null, [
    el("div", {class: "tools"}, el("input", {
         type: "range",
         id: "slider",
         min: 0,
         max: data.passes.length - 1,
         value: first,
         "aria-label": "pass",
         input: (e) => showPass(+e.target.value)
       }),
       el("b", {id: "pass-name"})),
    el("div", {id: "pass"}), el("details", {}, el("summary", {}, `all ${data.sites.length} fusion sites`), sitesTable(data.sites))
  ]);
  if (data.passes.length) showPass(first);
}

// ------------------------------------------------------------------------------------------------------------------- memory
const colour = (i) => `hsl(${(i * 137.5) % 360} 45% 55%)`;

function bufferFacts(p, b) {
  const writers = p.kernels.map((k, i) => [k, i])
                      .filter(([k]) => k.out.some((v) => v.buffer !== undefined && p.memory.buffers[v.buffer] === b));
  const names = [...new Set(writers.map(([k]) => k.node))];
  return [
    el("h3", {}, b.name),
    el("p", {},
       `${b.type}, ${exact(b.bytes)} bytes${perRow(p, b)} from ${exact(b.offset)}` +
           (b.per_thread ? "; with one row each thread has its own, from " + exact(b.local_offset) :
                b.single_offset !== undefined && b.single_offset !== b.offset ? "; with one row from " + exact(b.single_offset) :
                                                                                "")),
    el("p", {}, "holds ", names.slice(0, 12).map((n) => "%" + n + " ").join(""),
       names.length > 12 ? `and ${names.length - 12} more` : ""),
    el("p", {},
       "alive " + b.live.slice(0, 6).map(([a, z]) => a === z ? "in kernel " + a : `from kernel ${a} to ${z}`).join(", ") +
           (b.live.length > 6 ? ` and ${b.live.length - 6} times more` : ""))
  ];
}

function chooseBuffer(p, b, facts) {
  for (const r of document.querySelectorAll(".buffer")) r.classList.toggle("chosen", r.getAttribute("data-buffer") === b.name);
  clear(facts, bufferFacts(p, b));
}

function memoryPicture(p, facts) {
  const m = p.memory, all = m.buffers.map((b, i) => ({b, i})).filter(({b}) => m.dynamic_sizes || !b.fixed_size),
        n = Math.max(1, p.kernels.length);
  const most = Math.max(1, ...all.map(({b}) => b.offset + b.bytes)), W = Math.max(860, Math.min(3000, 5 * n)), H = 300, X = 76,
        x = (k) => X + k * W / n, y = (o) => H - o / most * (H - 20);
  const bound = m.dynamic_sizes ? m.lower_bound : m.lower_bound / m.rows,
        mark = (o) =>
            svg("text", {class: "soft", x: X - 6, y: y(o) + 4, "text-anchor": "end"}, bytes(Math.round(o)).replace(" bytes", " B"));
  const bands = p.loop ?
      [...Array(p.loop.iterations).keys()]
          .filter((i) => i % 2)
          .map(
              (i) => svg(
                  "rect",
                  {class: "band", x: x(p.loop.first + i * p.loop.period), y: 10, width: p.loop.period * W / n, height: H - 10})) :
      [];
  const rects = all
                    .flatMap(
                        (
                            {b, i}) => b.live
                                           .map(
                                               ([first, last]) =>
                                                   svg("rect",
                                                       {
                                                         class: "buffer",
                                                         fill: colour(i),
                                                         "data-buffer": b
                                                                            .name,
                                                         x: x(first),
                                                         y: y(b.offset + b.bytes),
                                                         width: Math.max(1, x(last + 1) - x(first)),
                                                         height: Math.max(1, y(b.offset) - y(b.offset + b.bytes)),
                                                         click: () => chooseBuffer(p, b, facts)
                                                       },
                                                       svg("title", {},
                                                           `${b.name}: ${exact(b.bytes)} bytes${perRow(p, b)}\nkernels ${
                                                               first} to ${last}`))));
  const wide = all.flatMap(({b}) => b.live.map(([f, l]) => ({b, f, l})))
                   .filter(({b, f, l}) => x(l + 1) - x(f) > 8 * b.name.length && y(b.offset) - y(b.offset + b.bytes) > 13)
                   .map(({b, f}) => svg("text", {x: x(f) + 4, y: y(b.offset) - 4, "pointer-events": "none"}, b.name));
  return svg(
      "svg", {
        class: "plan",
        width: X + W + 10,
        height: H + 40,
        viewBox: `0 0 ${X + W + 10} ${H + 40}`,
        role: "img",
        "aria-label": "buffers over kernels"
      },
      bands, rects, wide, svg("line", {class: "lower", x1: X, x2: X + W, y1: y(bound), y2: y(bound)}),
      svg("line", {class: "peak", x1: x(m.peak.kernel + .5), x2: x(m.peak.kernel + .5), y1: 10, y2: H}), mark(0), mark(bound),
      mark(most) && (most > bound * 1.06 ? mark(most) : null), svg("text", {class: "soft", x: X, y: H + 16}, "kernel 0"),
      svg("text", {class: "soft", x: X + W, y: H + 16, "text-anchor": "end"}, "kernel " + (n - 1)),
      svg("text", {class: "soft", x: X + W / 2, y: H + 32, "text-anchor": "middle"},
          "kernels in order" + (p.loop ? `; bands are ${p.loop.iterations} iterations of the loop over layers` : "") +
              "; dashed: the lower bound"));
}

function memoryOfProgram(p) {
  const m = p.memory, facts = el("div", {}), peak = p.kernels[m.peak.kernel], whole = m.dynamic_sizes ? 1 : m.rows;
  const rows = [
    [m.dynamic_sizes ? "memory of the largest run" : `arena for ${m.rows} rows`, m.arena_bytes],
    ["lower bound (what must lie apart)", m.lower_bound], ["local, each thread", m.local_bytes],
    ["scratch", m.dynamic_sizes ? 0 : m.scratch_bytes], ["state, each slot", m.slot_bytes], ["of it KV cache", m.cache_bytes],
    ["weights of this graph", m.weight_bytes]
  ].filter(([, n]) => n);
  const limit = peak ?
      [
        el("p", {},
           `Most is live at kernel ${m.peak.kernel}, ${p.functions[peak.function].name} (%${peak.node}): ${
               bytes(m.peak.bytes * whole)}, ` +
               (m.arena_bytes === m.lower_bound ?
                    "and the plan needs no byte more." :
                    `the plan needs ${(100 * (m.arena_bytes / m.lower_bound - 1)).toFixed(1)} % more.`)),
        table(
            ["buffer", "type", number(m.dynamic_sizes ? "bytes" : "bytes a row")],
            m.peak.buffers.map((i) => [m.buffers[i].name, m.buffers[i].type, m.buffers[i].bytes]))
      ] :
      null;
  return [
    el("h3", {}, p.graph.name), el("div", {class: "pair"}, table(["", number("bytes")], rows), el("div", {}, limit)),
    el("div", {class: "scroll"}, memoryPicture(p, facts)), facts
  ];
}

function memoryPart() {
  fill(section("memory"), null, [data.programs.map(memoryOfProgram)]);
}
