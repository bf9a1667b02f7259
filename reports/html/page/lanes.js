// lanes: one picture of the timeline: names of ranks, lanes, steps, parked points, ends, moments, and the axis.
RF.drawLanes = function (view) {
  const { paint, layout, scale, width, height } = view, c = paint.colour;
  if (!width) return;
  paint.clear(width, height);
  view.counted = { bars: 0, columns: 0 };
  const bottom = height, ctx = paint.ctx;
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, kTop, width, height - kTop);
  ctx.clip();
  const blamed = new Set(view.run.findings.filter((f) => f.caused_by < 0 && f.trouble).flatMap((f) => f.ranks));
  for (const track of layout.tracks) {
    const y = kTop + track.y - view.scroll;
    if (y + track.height < kTop || y > height) continue;
    RF.drawTrack(view, track, y, track.keys.some((key) => blamed.has(key)));
  }
  ctx.restore();
  RF.drawScrollbar(view);
  RF.drawMoments(view, bottom);
  RF.drawAxis(view);
};

RF.drawTrack = function (view, track, y, is_blamed) {
  const { paint, scale, width, run } = view, c = paint.colour, left = kGutter, right = width - 8;
  if (view.marked === track) paint.rect(0, y, width, track.height - 2, c.band);
  const middle = y + RF.kStripHeight + RF.kRowHeight / 2;
  if (is_blamed) paint.flag("!", 9, middle, c.blame);
  paint.text(RF.fit(track.name, 12), 20, middle, c.ink, is_blamed || view.marked === track);
  if (track.keys.length > 1) paint.text("× " + track.keys.length, 20, middle + 11, c.muted);
  paint.line(left - 0.5, y, y + track.height - 2, c.line);
  paint.rect(left, y + track.height - 2, right - left, 1, c.line);
  const ctx = paint.ctx;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, y, right - left, track.height);
  ctx.clip();
  for (const lane of track.lanes) {
    RF.drawLife(view, lane, y, track.height, left, right);
    RF.drawSteps(view, lane, y, left, right);
    const rows = lane.rows, most = Math.max(track.rows, 1);
    rows.forEach((row, r) => RF.drawRow(view, lane, row, y + RF.kStripHeight + Math.min(r, most - 1) * RF.kRowHeight, left, right));
    RF.drawEnd(view, lane, y, left, right);
  }
  for (const park of run.parks)
    if (track.keys.includes(park.rank)) {
      const x = scale(park.from), wide = Math.max(scale(park.to) - x, 3);
      paint.rect(x, y + RF.kStripHeight, wide, RF.kRowHeight - 2, paint.hatch.park);
      ctx.strokeStyle = c.park;
      ctx.strokeRect(x, y + RF.kStripHeight, wide, RF.kRowHeight - 2);
      RF.onPattern(view, "parked", x, wide, middle, left, right);
    }
  if (track.lanes.length === 0) paint.text("no record of it", left + 6, middle, c.muted);
  ctx.restore();
};

// A word on a pattern, where there is room for it.
RF.onPattern = function (view, word, x, wide, middle, left, right) {
  const from = Math.max(x, left), room = Math.min(x + wide, right) - from;
  if (room < 60) return;
  view.paint.rect(from + 5, middle - 8, 48, 13, view.paint.colour.back);
  view.paint.text(word, from + 8, middle - 1, view.paint.colour.ink, true);
};

RF.drawLife = function (view, lane, y, height, left, right) {
  const { paint, scale } = view, c = paint.colour;
  const from = Math.max(scale(lane.opened || 0), left), to = Math.min(scale(lane.over), right);
  if (to > from) paint.rect(from, y + RF.kStripHeight + RF.kRowHeight / 2 - 1, to - from, 1, c.line);
  for (const [first, last] of lane.stops) {
    const x = scale(first), wide = Math.max(scale(last) - x, 4);
    paint.rect(x, y + RF.kStripHeight, wide, RF.kRowHeight - 2, paint.hatch.park);
    RF.onPattern(view, "stopped", x, wide, y + RF.kStripHeight + RF.kRowHeight / 2, left, right);
  }
};

// Every other step is darker. Steps narrower than a pixel are one band.
RF.drawSteps = function (view, lane, y, left, right) {
  const { paint, scale } = view, c = paint.colour, steps = lane.stepList;
  let drawn = -Infinity;
  for (let i = 0; i < steps.length; ++i) {
    const x = scale(steps[i][0]), past = i + 1 < steps.length ? scale(steps[i + 1][0]) : scale(lane.over);
    if (past < left || x > right || past - drawn < 1) continue;
    const from = Math.max(x, left), to = Math.min(past, right);
    paint.rect(from, y + 1, Math.max(to - from, 0.5), RF.kStripHeight - 2, past - x < 3 || i % 2 ? c.band : c.line);
    if (to - from > 54) {
      paint.ctx.font = "9px system-ui, sans-serif";
      paint.ctx.fillStyle = c.muted;
      paint.ctx.fillText("step " + steps[i][1], from + 3, y + RF.kStripHeight / 2 + 0.5);
    }
    drawn = past;
  }
  for (const [t, is_error, text] of lane.marks) {
    const x = scale(t);
    if (x < left || x > right) continue;
    paint.line(x, y + 1, y + RF.kStripHeight + RF.kRowHeight - 2, is_error ? c.bad : c.muted, [2, 2], 1.5);
    if (is_error) paint.text("!", x + 2, y + RF.kStripHeight / 2 + 1, c.bad, true);
  }
};

RF.drawRow = function (view, lane, row, y, left, right) {
  const { paint, scale } = view, c = paint.colour, all = lane.unpacked, height = RF.kRowHeight - 2;
  RF.eachVisible(lane, row, scale,
    (i, x, width) => {
      paint.bar(lane, i, x, width, y, height, left, right);
      if (all.work.has(i)) paint.work(Math.max(x + width, left), Math.min(scale(all.work.get(i)), right), y + height, all.state[i] !== RF.kState.workDone);
      ++view.counted.bars;
    },
    (x, width, first, past) => {
      const i = row.calls[first], shape = lane.run.shapes[all.shape[i]];
      const from = all.begin[i], to = Math.max(scale.invert(x + width), row.latest[past - 1]);
      const part = Math.min(1, (row.busy[past] - row.busy[first]) / Math.max(to - from, 1));
      const high = Math.max(3, height * (0.3 + 0.7 * part));
      paint.rect(x, y + height - high, width, high, c[RF.kClasses[shape[1]]]);
      if (row.bad[past] > row.bad[first]) paint.rect(x, y, Math.max(width, 3), 4, c.bad);
      ++view.counted.columns;
    });
  const chosen = view.selected;
  if (!chosen || chosen.lane !== lane || !row.calls.includes(chosen.i)) return;
  const x = scale(all.begin[chosen.i]), wide = Math.max(scale(all.end[chosen.i]) - x, 3);
  paint.ctx.strokeStyle = c.select;
  paint.ctx.lineWidth = 2.5;
  paint.ctx.strokeRect(Math.max(x, left) - 1, y - 1, Math.min(x + wide, right) - Math.max(x, left) + 2, height + 2);
  paint.ctx.lineWidth = 1;
};

RF.drawEnd = function (view, lane, y, left, right) {
  if (!lane.end) return;
  const { paint, scale, run } = view, c = paint.colour, x = scale(lane.end.t), middle = y + RF.kStripHeight + RF.kRowHeight / 2 - 1;
  if (x < left - 2 || x > right + 60) return;
  const text = (lane.end.bad ? "✕ " : "● ") + run.texts[lane.end.text];
  paint.ctx.font = "600 11px system-ui, sans-serif";
  const wide = paint.ctx.measureText(text).width;
  paint.line(x, y, y + RF.kStripHeight + RF.kRowHeight, lane.end.bad ? c.bad : c.muted, [], 2);
  const at = x + 4 + wide > right ? x - wide - 5 : x + 4;
  paint.rect(at - 2, middle - 7, wide + 4, 14, c.back);
  paint.text(text, at, middle, lane.end.bad ? c.bad : c.muted, true);
};
