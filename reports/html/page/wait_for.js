// wait_for: the graph of a finding: groups of ranks, and which group waits for which. A cycle stands on a
// circle; else those who wait stand left of those for whom they wait.
RF.kBox = { width: 250, height: 74 };

RF.waitFor = function (graph, number) {
  for (const group of graph.groups) group.label = RF.rankWords(group.ranks);
  const groups = graph.groups, edges = graph.edges.filter((edge) => edge.from !== edge.to);
  const used = new Set(graph.edges.flatMap((edge) => [edge.from, edge.to]));
  const shown = groups.map((group, i) => ({ ...group, i })).filter((group) => used.has(group.i) || group.blamed);
  const place = RF.placeGroups(shown, edges);
  const svg = d3.select(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  const words = RF.edgeWords(graph);
  svg.attr({ class: "graph", viewBox: "0 0 " + place.width + " " + place.height, role: "img", "aria-label": words.join("; ") });
  svg.style("max-width", place.width + "px");
  svg.append("defs").append("marker")
    .attr({ id: "arrow-" + number, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse" })
    .append("path").attr({ d: "M0,0 L10,5 L0,10 z", class: "arrow" });
  for (const edge of edges) RF.drawEdge(svg, place, edge, number, edges.some((e) => e.from === edge.to && e.to === edge.from));
  for (const edge of graph.edges.filter((e) => e.from === e.to)) RF.drawLoop(svg, place, edge, number);
  for (const group of shown) RF.drawGroup(svg, place.at.get(group.i), group);
  const others = groups.filter((group, i) => !used.has(i) && !group.blamed);
  return RF.el("figure", {}, svg.node(),
    RF.el("figcaption", {},
      (graph.by_records ? "As the records show it at " : "As the finding says it, at ") + RF.time(graph.at) + ". ",
      shown.some((group) => group.cycle) ? "↻: these wait for each other, so none can go on. " : shown.some((group) => group.sink) ? "■: others wait for it, and it waits for no one. " : "",
      others.length ? "Not part of it: " + others.map((g) => g.label + " (" + g.state + ")").slice(0, 4).join("; ") + ". " : "",
      graph.groups_left_out ? RF.count(graph.groups_left_out, "more group") + " not shown." : ""),
    RF.el("ul", { class: "edges" }, words.map((text) => RF.el("li", { text }))));
};

RF.edgeWords = (graph) => graph.edges.map((edge) => {
  const from = graph.groups[edge.from], to = graph.groups[edge.to];
  const own = edge.from === edge.to ? "each other" : to.label;
  return from.label + (from.ranks.length === 1 ? " waits for " : " wait for ") + own + (edge.call ? " in " + edge.call : "");
});

// The groups in the order in which one waits for the next, as far as there is one.
RF.alongCycle = function (groups, edges) {
  const left = [...groups], out = [];
  while (left.length) {
    const last = out[out.length - 1];
    const next = last ? left.findIndex((group) => edges.some((e) => e.from === last.i && e.to === group.i)) : 0;
    out.push(...left.splice(Math.max(next, 0), 1));
  }
  return out;
};

RF.placeGroups = function (shown, edges) {
  const at = new Map(), { width, height } = RF.kBox;
  const cycle = RF.alongCycle(shown.filter((group) => group.cycle), edges);
  if (cycle.length > 2) {
    const radius = Math.max(130, (cycle.length * 130) / Math.PI), wide = radius + width / 2 + 10, high = radius * 0.75 + height / 2 + 24;
    cycle.forEach((group, k) => {
      const angle = (2 * Math.PI * k) / cycle.length - Math.PI / 2;
      at.set(group.i, [wide + radius * Math.cos(angle), high + radius * 0.75 * Math.sin(angle)]);
    });
    const rest = shown.filter((group) => !group.cycle);
    rest.forEach((group, k) => at.set(group.i, [2 * wide + width / 2 + 30, height / 2 + 20 + k * (height + 26)]));
    return { at, width: 2 * wide + (rest.length ? width + 50 : 0), height: Math.max(2 * high, rest.length * (height + 26) + 30) };
  }
  const waits = new Set(edges.map((edge) => edge.from));
  const right = shown.filter((group) => group.sink || !waits.has(group.i) || (group.cycle && group.blamed));
  const chosen = right.length && right.length < shown.length ? right : shown.slice(-1);
  const columns = [shown.filter((group) => !chosen.includes(group)), chosen];
  const rows = Math.max(...columns.map((column) => column.length)), tall = rows * (height + 26) + 30;
  columns.forEach((column, x) => column.forEach((group, k) =>
    at.set(group.i, [width / 2 + 6 + x * (width + 110), (tall * (k + 0.5)) / column.length])));
  return { at, width: 2 * width + 122, height: tall };
};

RF.drawEdge = function (svg, place, edge, number, both) {
  const { width, height } = RF.kBox, [x0, y0] = place.at.get(edge.from), [x1, y1] = place.at.get(edge.to);
  const length = Math.hypot(x1 - x0, y1 - y0) || 1, away = both ? 14 : 0;
  const nx = (-(y1 - y0) / length) * away, ny = ((x1 - x0) / length) * away;
  const cut = (dx, dy) => Math.min(Math.abs((width / 2 + 2) / (dx || 1e-9)), Math.abs((height / 2 + 2) / (dy || 1e-9)));
  const dx = (x1 - x0) / length, dy = (y1 - y0) / length, c = Math.min(cut(dx, dy), length / 2);
  svg.append("line").attr({ class: "edge", x1: x0 + dx * c + nx, y1: y0 + dy * c + ny, x2: x1 - dx * c + nx, y2: y1 - dy * c + ny, "marker-end": "url(#arrow-" + number + ")" });
  svg.append("text").attr({ class: "edge-text", x: (x0 + x1) / 2 + nx * 1.6, y: (y0 + y1) / 2 + ny * 1.6 + (ny > 0 ? 8 : -9), "text-anchor": "middle" }).text("waits for");
};

RF.drawLoop = function (svg, place, edge, number) {
  const [x, y] = place.at.get(edge.from), top = y - RF.kBox.height / 2;
  svg.append("path").attr({ class: "edge", fill: "none", d: "M" + (x - 30) + "," + (top - 2) + " c0,-22 60,-22 60,0", "marker-end": "url(#arrow-" + number + ")" });
};

RF.drawGroup = function (svg, [x, y], group) {
  const { width, height } = RF.kBox;
  const role = group.blamed ? "blamed" : group.sink ? "sink" : group.cycle ? "cycle" : "";
  const box = svg.append("g").attr({ class: "group " + role, transform: "translate(" + (x - width / 2) + "," + (y - height / 2) + ")", tabindex: 0, role: "button",
    "aria-label": group.label + ", " + group.state + (group.blamed ? ", blamed" : "") + (group.cycle ? ", in the cycle" : group.sink ? ", a sink: it waits for no one" : "") });
  box.append("rect").attr({ width, height, rx: 6 });
  box.append("text").attr({ class: "name", x: 12, y: 22 }).text(RF.fit(group.label, 22));
  const badges = [group.blamed ? "! blamed" : "", group.cycle ? "↻ in the cycle" : group.sink ? "■ sink" : ""].filter(Boolean).join("  ");
  box.append("text").attr({ class: "badge", x: width - 10, y: 21, "text-anchor": "end" }).text(badges);
  box.append("text").attr({ x: 12, y: 43 }).text(RF.fit(group.state, 38));
  box.append("text").attr({ class: "site", x: 12, y: 62 }).text(RF.fit(group.site, 42));
  box.append("title").text(group.label + ": " + group.state + (group.site ? " at " + group.site : ""));
  const go = () => RF.timeline && RF.timeline.show(group.since, group.ranks[0]);
  box.on("click", go).on("keydown", () => {
    if (d3.event.key === "Enter" || d3.event.key === " ") d3.event.preventDefault(), go();
  });
};
