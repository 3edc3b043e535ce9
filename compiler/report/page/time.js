// Times beside what the machine gives, attention, sources; then all parts are drawn.
// --------------------------------------------------------------------------------------------------------- time and attention
function timeOfKernel(p, k) {
  const f = p.functions[k.function].name, first = p.kernels.find((o) => o.site === k.site);
  const site =
      data.time && data.time.runs[0].sites.find((s) => s.graph === p.graph.name && s.function === f && s.node === first.node);
  return site ? `${(1e3 * site.ms / site.calls).toFixed(1)} µs a call (${data.time.runs[0].step})` : "";
}

// Steps of a run; of a network, whose runs are as many as time allowed, the calls of what runs once in each.
const stepsOf = (run) => run.steps || Math.max(1, Math.min(...run.sites.map((s) => s.calls)));

const percent = (part, all) => number(all > 0 ? (100 * part / all).toFixed(1) + " %" : "");
const bar = (share) => el("span", {class: "bar", style: `width:${Math.max(1, Math.round(150 * Math.min(1, share)))}px`});

// Operations for each byte across, operations a second up, both by their logarithm; the roof is what this machine gives.
function roofline(run) {
  const limits = data.time.limits, W = 560, H = 250, X = 66, points = run.sites.filter((s) => s.operations > 0 && s.ms > 0);
  if (!points.length || !(limits.read > 0)) return null;
  const reach = points.map((s) => [s.operations / Math.max(1, s.weight_bytes + s.bytes), 1e3 * s.operations / s.ms, s]);
  const roof = Math.max(limits.fma, points.some((s) => s.function.includes("q8") || s.function.includes("_q4")) ? limits.dot : 0);
  const low = Math.floor(Math.log10(Math.min(...reach.map((r) => r[0]), .1))),
        high = Math.ceil(Math.log10(Math.max(...reach.map((r) => r[0]), 100)));
  const top = Math.ceil(Math.log10(Math.max(roof, ...reach.map((r) => r[1])))),
        bottom = Math.floor(Math.log10(Math.max(1, Math.min(...reach.map((r) => r[1])))));
  const x = (v) => X + (Math.log10(v) - low) / (high - low) * W, y = (v) => 10 + (top - Math.log10(v)) / (top - bottom) * H;
  const knee = roof / limits.read, left = Math.max(10 ** low, 10 ** bottom / limits.read);
  const ticks = [...Array(top - bottom + 1).keys()].map(
      (i) => svg(
          "text", {class: "soft", x: X - 6, y: y(10 ** (bottom + i)) + 4, "text-anchor": "end"}, count(10 ** (bottom + i)) + "/s"));
  const across = [...Array(high - low + 1).keys()].map(
      (i) =>
          svg("text", {class: "soft", x: x(10 ** (low + i)), y: H + 26, "text-anchor": "middle"},
              String(+(10 ** (low + i)).toPrecision(2))));
  return svg(
      "svg", {width: X + W + 20, height: H + 46, viewBox: `0 0 ${X + W + 20} ${H + 46}`, role: "img", "aria-label": "roofline"},
      ticks, across, svg("path", {
        class: "lower",
        fill: "none",
        d: `M${x(left)},${y(left * limits.read)}L${x(Math.min(knee, 10 ** high))},${y(Math.min(knee, 10 ** high) * limits.read)}L${
            x(10 ** high)},${y(Math.min(roof, 10 ** high * limits.read))}`
      }),
      reach.map(
          ([i, r, s]) => svg(
              "circle",
              {cx: x(i), cy: y(r), r: 3 + 12 * Math.sqrt(s.ms / run.ms), fill: colour(run.sites.indexOf(s)), "fill-opacity": .7},
              svg("title", {}, `${s.function}\n${s.location}\n${s.ms} ms of ${run.ms.toFixed(2)}`))),
      svg("text", {class: "soft", x: X + W / 2, y: H + 42, "text-anchor": "middle"},
          "operations for each byte; dashed: what memory and arithmetic give here"));
}

// Times that belong together, largest first.
function sumBy(run, key) {
  const sums = new Map();
  for (const s of run.sites) sums.set(key(s), (sums.get(key(s)) || 0) + s.ms);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

function layersOf(run) {
  const all = (run.layers || []).filter((l) => l.layer), most = Math.max(...all.map((l) => l.ms));
  if (all.length < 2) return null;
  return el(
      "details", {class: "layers"}, el("summary", {}, `By layer: ${all.length} layers`),
      table(
          ["layer", number("ms"), number("share"), ""],
          run.layers.map((l) => [l.layer || "the rest", number(l.ms.toFixed(2)), percent(l.ms, run.ms), bar(l.ms / most)])));
}

// Times are those of a step: a run is many.
function runPart(run) {
  const steps = stepsOf(run), each = (ms) => number((1e3 * ms / steps).toFixed(1));
  const rows = run.sites.map(
      (s) =>
          [s.function, s.location, number((s.calls / steps).toFixed(s.calls % steps ? 2 : 0)), each(s.ms), percent(s.ms, run.ms),
           bar(s.ms / run.ms), number((1e3 * s.ms / s.calls).toFixed(1)),
           number(s.weight_bytes ? bytes(Math.round(s.weight_bytes / s.calls)) : ""),
           number(s.operations ? count(s.operations / s.calls) : ""),
           s.least_ms ? percent(s.least_ms, s.ms) : number("")]);
  if (run.waits)
    rows.push([
      "(waiting for other threads)", "", number((run.waits / steps).toFixed(0)), each(run.waiting_ms),
      percent(run.waiting_ms, run.ms), bar(run.waiting_ms / run.ms), number((1e3 * run.waiting_ms / run.waits).toFixed(1)),
      number(""), number(""), number("")
    ]);
  const by = (what, key) =>
      el("div", {}, el("h3", {}, "By " + what),
         table(
             [what, number("µs a step"), number("share")],
             sumBy(run, key).slice(0, 20).map(([name, ms]) => [name, each(ms), percent(ms, run.ms)])));
  return [
    el("h3", {}, run.step),
    el("p", {},
       `${run.ms.toFixed(2)} ms of thread 0 in ${exact(steps)} steps: ${(run.ms / steps).toFixed(3)} ms each${
           run.waits ? "" : ", no waiting"}.`),
    el("div", {class: "scroll"},
       table(
           [
             "kernel", "place", number("calls a step"), number("µs a step"), number("share"), "", number("µs a call"),
             number("weights"), number("operations"), number("of its limit")
           ],
           rows)),
    layersOf(run),
    el("div", {class: "pair"}, roofline(run), by("source line", (s) => s.location.split(" ")[0]),
       by("part", (s) => s.location.split(" ").slice(1).join(" ") || "the rest"))
  ];
}

function timePart() {
  if (!data.time)
    return fill(section("time"), null, [el("p", {class: "note"},
                                           "Not measured: burin report MODEL --run measures each kernel on this machine.")]);
  const t = data.time, l = t.limits;
  return fill(section("time"), null, [
    el("div", {class: "cards"}, card("code for", t.cpu), card("threads", t.threads),
       card("memory, of as many bytes as the weights", bytes(l.read) + "/s"), card("f32 multiply-adds", count(l.fma) + " op/s"),
       card("int8 products", count(l.dot) + " op/s")),
    el("p", {class: "note"},
       "The share of its limit: how long reading weights and caches, or computing, takes here at the least, of the time it took."),
    t.runs.map(runPart)
  ]);
}
// Shares of a layer: at(row, head, key) from 0 to 1.
function sharesOf(l) {
  const text = atob(l.shares);
  return (row, head, key) => text.charCodeAt((row * l.heads + head) * l.keys + key) / 255;
}

// Which tokens ask, and which are seen: a decoder's own, or what an encoder read.
function tokensOf(l) {
  const lists = data.attention.tokens, own = lists.find((t) => t.graph === l.graph) || lists[0],
        fits = (t, n) => t && t.tokens.length >= n;
  const seen = fits(own, l.keys) && !(lists.length > 1 && l.at.scope && /(cross|encoder_attn|encdecattention)/i.test(l.at.scope)) ?
      own :
      lists.find((t) => t !== own && fits(t, l.keys)) || own;
  return {asking: own.tokens, seen: seen.tokens};
}

const shown = (token) => token.replace(/ /g, "␣").replace(/\n/g, "⏎");
const attention = {
  layer: null,
  head: 0,
  row: 0
};

function heatOf(l, head) {
  const at = sharesOf(l),
        canvas = el(
            "canvas",
            {class: "heat", width: l.keys, height: l.rows, role: "button", tabindex: 0, "aria-label": `${l.node}, head ${head}`});
  const size = Math.max(64, Math.min(160, 8 * l.keys));
  canvas.style.width = size + "px", canvas.style.height = Math.round(size * l.rows / l.keys) + "px";
  const context = canvas.getContext("2d"), image = context.createImageData(l.keys, l.rows);
  for (let r = 0; r < l.rows; r++)
    for (let k = 0; k < l.keys; k++)
      image.data.set([138, 59, 18, Math.round(255 * Math.sqrt(at(r, head, k)))], 4 * (r * l.keys + k));
  context.putImageData(image, 0, 0);
  const pick = (row) => {
    Object.assign(attention, {layer: l, head, row});
    drawTokens();
  };
  canvas.addEventListener(
      "click", (e) => pick(Math.min(l.rows - 1, Math.max(0, Math.floor(e.offsetY / canvas.clientHeight * l.rows)))));
  canvas.addEventListener("keydown", (e) => {
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      pick(l.rows - 1);
    }
  });
  return el("figure", {}, canvas, el("figcaption", {}, "head " + head));
}

// The tokens that the chosen one sees, by their shares; a click chooses another.
function drawTokens() {
  const {layer: l, head, row} = attention, at = sharesOf(l), {asking, seen} = tokensOf(l);
  const most = seen.slice(0, l.keys).map((t, k) => [t, k, at(row, head, k)]).sort((a, b) => b[2] - a[2]).slice(0, 8);
  const span = (t, chosen, share, action) =>
      [el("span", {
         class: chosen ? "chosen" : "",
         style: `background: rgb(200 90 30 / ${share})`,
         title: (100 * share).toFixed(1) + " %",
         ...(action ? press(action) : {})
       },
          shown(t)),
       " "];
  clear(
      section("tokens"), el("h3", {}, `${l.at.scope || "%" + l.node}, head ${head}: what “${shown(asking[row] || "")}” sees`),
      el("p", {class: "tokens"}, "token ",
         asking.slice(0, l.rows).map(
             (t, r) => span(
                 t, r === row, 0,
                 () => {
                   attention.row = r;
                   drawTokens();
                 }))),
      el("p", {class: "tokens"}, "sees ", seen.slice(0, l.keys).map((t, k) => span(t, false, at(row, head, k)))),
      table(
          ["most attended", number("position"), number("share")],
          most.map(([t, k, s]) => [shown(t), k, number((100 * s).toFixed(1) + " %")])));
}

function attentionPart() {
  const a = data.attention;
  if (!a)
    return fill(section("attention"), null, [
      el("p", {class: "note"},
         "No text was given: burin report MODEL --text \"...\" (of a network: --input NAME=F.npy) shows what each head attends to.")
    ]);
  fill(section("attention"), null, [
    el("p", {}, a.text ? ["Text: ", el("code", {}, a.text), ". "] : "Of the inputs that were given, the first sequence. ",
       "Rows of a picture are tokens that ask, columns the tokens that they see; darker is more."),
    el("div", {id: "tokens"}),
    a.layers.map(
        (l, i) =>
            el("details", {open: i < 4},
               el("summary", {}, `${l.at.scope || "%" + l.node} (${l.graph}): ${l.heads} heads, ${l.rows} × ${l.keys}`),
               el("div", {class: "heats"}, [...Array(l.heads).keys()].map((h) => heatOf(l, h)))))
  ]);
  if (!a.layers.length) return fill(section("attention"), null, [el("p", {class: "note"}, "This model has no attention.")]);
  Object.assign(attention, {layer: a.layers[0], head: 0, row: a.layers[0].rows - 1});
  return drawTokens();
}

// ------------------------------------------------------------------------------------------------------------------- source
function sourcePart() {
  const list = data.sources.map((s) => el("details", {}, el("summary", {}, s.name), el("pre", {}, s.text)));
  fill(section("source"), null, [
    list.length ? list : el("p", {class: "note"}, "The model is no text."),
    el("p", {class: "note"}, `burin ${data.burin}, ${data.format}. The data of this page is the JSON in the element #data.`)
  ]);
}

for (const part of [summary, graphPart, passesPart, memoryPart, timePart, attentionPart, sourcePart]) part();
if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
