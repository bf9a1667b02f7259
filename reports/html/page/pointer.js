// pointer: what the mouse does: hover tells, a click selects, Ctrl and the wheel zoom, the wheel scrolls ranks.
RF.Pointer = class {
  constructor(view) {
    this.view = view;
    const canvas = view.canvas;
    canvas.addEventListener("mousemove", (event) => this.hover(event));
    canvas.addEventListener("mouseleave", () => (view.tip.hidden = true));
    canvas.addEventListener("click", (event) => this.click(event));
    // d3 zooms with each turn of the wheel. A page must scroll.
    const zoomed = d3.select(canvas).on("wheel.zoom");
    d3.select(canvas).on("wheel.zoom", function () {
      const event = d3.event;
      if (event.ctrlKey || event.metaKey) return zoomed.apply(this, arguments);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        view.panBy((event.deltaX || event.deltaY) / view.width);
        event.preventDefault();
      } else if (view.scrollBy(event.deltaY)) {
        event.preventDefault();
      }
    });
  }

  // The call under the pointer: {track, lane, i}, or a track alone, or nothing.
  find(event) {
    const view = this.view, box = view.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    if (y < kTop || x < 0) return { x, y };
    const track = view.layout.at(y - kTop + view.scroll);
    if (!track || x < kGutter) return { x, y, track };
    const time = view.scale.invert(x), reach = view.scale.invert(x + 3) - time;
    const r = Math.floor((y - kTop + view.scroll - track.y - RF.kStripHeight) / RF.kRowHeight);
    for (const lane of track.lanes) {
      const row = lane.rows[Math.min(Math.max(r, 0), lane.rows.length - 1)];
      const i = row ? RF.callAt(lane, row, time, reach) : -1;
      if (i >= 0) return { x, y, track, lane, i };
    }
    return { x, y, track, park: view.run.parks.find((p) => track.keys.includes(p.rank) && time >= p.from - reach && time <= p.to + reach) };
  }

  hover(event) {
    const view = this.view, found = this.find(event), tip = view.tip;
    const lines = found.lane ? found.lane.describe(found.i) : found.park ? [["fault", found.park.what]] : this.of_moment(found) || this.of_track(found);
    tip.hidden = !lines;
    if (!lines) return;
    tip.replaceChildren(...lines.map(([word, text]) => RF.el("div", {}, RF.el("b", { text: word + " " }), RF.el("span", { text }))));
    const left = Math.min(found.x + 14, view.width - tip.offsetWidth - 4);
    tip.style.left = Math.max(left, 0) + "px";
    tip.style.top = found.y + 24 + "px";
  }

  of_moment({ x, y }) {
    const view = this.view;
    if (y >= kTop) return null;
    const near = view.run.moments.filter((moment) => Math.abs(view.scale(moment.t) - x) < 16);
    return near.length ? near.slice(0, 6).map((moment) => [moment.key, moment.what + " at " + RF.time(moment.t)]) : null;
  }

  of_track({ track, x }) {
    if (!track || x >= kGutter) return null;
    const lines = [[track.keys.length > 1 ? RF.count(track.keys.length, "rank") + " that did the same:" : "", track.keys.length > 1 ? RF.ranks(track.keys) : track.name]];
    for (const lane of track.lanes)
      lines.push([lane.attempt ? "attempt " + lane.attempt : "process", lane.pid + ", " + RF.count(lane.n, "call") + (lane.end ? ", " + this.view.run.texts[lane.end.text] : "")]);
    return lines;
  }

  click(event) {
    if (event.defaultPrevented) return;  // the end of a pan
    const found = this.find(event);
    if (found.lane) this.view.select(found.track, found.lane, found.i);
    else if (found.track) {
      this.view.marked = found.track;
      this.view.say(found.track.name);
      this.view.draw();
    }
  }
};
