// frame: what stands around the lanes: moments as lines with letters, the axis, the bar of the scroll.
RF.momentColour = (key, c) => (key === "F" ? c.fault : key === "D" ? c.blame : key === "P" ? c.collective : c.muted);

RF.drawMoments = function (view, bottom) {
  const { paint, scale, run, width } = view, c = paint.colour;
  const used = [];
  for (const moment of run.moments) {
    const x = scale(moment.t);
    if (x < kGutter || x > width - 8) continue;
    const colour = RF.momentColour(moment.key, c);
    paint.line(x, kTop - 2, bottom, colour, moment.key === "F" ? [] : moment.key === "D" ? [6, 3] : [2, 3], moment.key === "F" ? 2 : 1.2);
    let at = x;
    while (used.some((other) => Math.abs(other - at) < 14)) at += 14;
    if (at > x + 70) continue;  // the list above the timeline has it
    used.push(at);
    paint.flag(moment.key, at, kTop - 10, colour);
  }
  if (view.cursor !== null) {
    const x = scale(view.cursor);
    if (x >= kGutter && x <= width - 8) paint.line(x, kTop, bottom, c.select, [1, 2], 1.5);
  }
};

RF.drawAxis = function (view) {
  const span = view.wanted[1] - view.wanted[0], ticks = Math.max(2, Math.floor((view.width - kGutter) / 130));
  const axis = d3.svg.axis().scale(view.scale).orient("top").ticks(ticks).tickSize(4).tickFormat((t) => RF.time(t, span));
  let svg = d3.select(view.axis).select("svg");
  if (svg.empty()) {
    svg = d3.select(view.axis).append("svg").attr("height", 22);
    svg.append("g").attr("transform", "translate(0,21)");
  }
  svg.attr("width", view.width).select("g").call(axis);
};

RF.drawScrollbar = function (view) {
  const { paint, layout, height, width } = view, c = paint.colour, seen = height - kTop;
  if (layout.height <= seen + 1) return;
  const part = seen / layout.height;
  paint.rect(width - 7, kTop, 6, seen, c.band);
  paint.rect(width - 7, kTop + view.scroll * part, 6, Math.max(seen * part, 20), c.muted);
};

RF.fit = (text, most) => (text.length <= most ? text : text.slice(0, most - 1) + "…");
