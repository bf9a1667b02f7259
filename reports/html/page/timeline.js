// timeline: swim lanes of the ranks on one clock, with d3's scale, axis, zoom and pan.
const kGutter = 96, kTop = 34, kMostHeight = 460;

RF.Timeline = class {
  constructor(run) {
    this.run = run;
    this.layout = new RF.Layout(run);
    this.scroll = 0;
    this.selected = null;  // {track, lane, i}
    this.cursor = null;
    this.build();
    this.paint = new RF.Paint(this.canvas);
    this.scale = d3.scale.linear();
    this.zoom = d3.behavior.zoom().on("zoom", () => this.zoomed());
    this.wanted = this.whole();
    d3.select(this.canvas).call(this.zoom);
    this.pointer = new RF.Pointer(this);
    this.keys = new RF.Keys(this);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.paint.theme(); this.draw(); });
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  build() {
    this.axis = RF.el("div", { class: "axis", "aria-hidden": "true" });
    this.canvas = RF.el("canvas", { tabindex: "0", role: "application", "aria-label":
      "Timeline of " + RF.count(this.layout.by_rank.size, "rank") + ". Left and right pan, plus and minus zoom, up and down choose a rank, n and p go to its next and previous call, 0 shows the whole run." });
    this.tip = RF.el("div", { class: "tip", hidden: true });
    this.box = RF.el("div", { class: "lanes" }, this.axis, this.canvas, this.tip);
    this.said = RF.el("div", { class: "said", role: "status", "aria-live": "polite" });
    this.say("");
  }

  // From the first to the last thing that happened: without the start and the clean-up of rankfault itself.
  whole() {
    let from = Infinity, to = 0;
    const take = (t) => { if (t === null || t === undefined) return; from = Math.min(from, t); to = Math.max(to, t); };
    for (const lane of this.run.lanes) {
      take(lane.opened);
      if (lane.end) take(lane.end.t);
      else take(this.run.end);
    }
    for (const moment of this.run.moments) take(moment.t);
    if (!(to > from)) [from, to] = [0, Math.max(this.run.end, 10)];
    const room = (to - from) * 0.02;  // on the right, for the words at the ends
    return [Math.max(0, from - room), to + 3 * room];
  }

  resize() {
    const width = this.box.clientWidth;
    if (width === 0) return;
    this.width = width;
    this.height = Math.min(Math.max(this.layout.height, 60), kMostHeight) + kTop;
    this.canvas.style.width = width + "px";
    this.canvas.style.height = this.height + "px";
    this.scale.range([kGutter, width - 8]);
    this.setView(this.wanted);
  }

  // d3 keeps zoom and pan as a scale and a shift of the whole run.
  setView([from, to]) {
    const [first, last] = this.whole(), least = 20;
    const span = Math.min(Math.max(to - from, least), last - first);
    from = Math.min(Math.max(from, first), last - span);
    this.wanted = [from, from + span];
    this.scale.domain([first, last]);
    this.zoom.x(this.scale).scaleExtent([1, (last - first) / least]);
    const k = (last - first) / span, [left, right] = this.scale.range();
    this.zoom.scale(k).translate([left - k * left - ((from - first) / (last - first)) * k * (right - left), 0]);
    this.draw();
  }

  zoomed() {
    const [from, to] = this.scale.domain();
    this.setView([from, to]);
  }

  zoomBy(factor, around) {
    const [from, to] = this.wanted;
    const at = around === undefined ? (this.cursor !== null && this.cursor > from && this.cursor < to ? this.cursor : (from + to) / 2) : around;
    this.setView([at - (at - from) / factor, at + (to - at) / factor]);
  }

  panBy(part) {
    const [from, to] = this.wanted, by = (to - from) * part;
    this.setView([from + by, to + by]);
  }

  // Shows an instant, at least twenty times closer than the whole run, and its rank.
  show(t, rank) {
    const [first, last] = this.whole(), [from, to] = this.wanted;
    const span = Math.min(to - from, (last - first) / 20);
    this.cursor = t;
    this.marked = rank >= 0 ? this.layout.track_of(rank) : null;
    if (this.marked) this.reveal(this.marked);
    this.setView([t - span / 2, t + span / 2]);
    this.box.scrollIntoView({ block: "nearest" });
    this.canvas.focus({ preventScroll: true });
    this.say(RF.time(t, span) + (this.marked ? ", " + this.marked.name : ""));
  }

  reveal(track) {
    const seen = Math.min(this.layout.height, kMostHeight);
    if (track.y < this.scroll) this.scroll = track.y;
    if (track.y + track.height > this.scroll + seen) this.scroll = track.y + track.height - seen;
  }

  scrollBy(pixels) {
    const most = Math.max(0, this.layout.height - kMostHeight), before = this.scroll;
    this.scroll = Math.min(Math.max(this.scroll + pixels, 0), most);
    if (this.scroll !== before) this.draw();
    return this.scroll !== before;
  }

  fold(on) {
    this.layout.fold(on);
    this.scroll = 0;
    this.selected = this.marked = null;
    this.resize();
  }

  select(track, lane, i) {
    this.selected = { track, lane, i };
    this.marked = track;
    this.cursor = lane.unpacked.begin[i];
    this.reveal(track);
    const [from, to] = this.wanted, begin = lane.unpacked.begin[i], end = lane.unpacked.end[i];
    if (begin < from || begin > to) this.setView([begin - (to - from) / 2, begin + (to - from) / 2]);
    else this.draw();
    this.said.replaceChildren(RF.el("dl", { class: "call" }, lane.describe(i).map(([word, text]) =>
      RF.el("div", {}, RF.el("dt", { text: word }), RF.el("dd", { text })))));
    return [begin, end];
  }

  say(text) {
    this.said.replaceChildren(text ? RF.el("p", { text }) : RF.el("p", { class: "muted", text:
      "Drag or ← → to pan, Ctrl + wheel or + − to zoom, a click or ↑ ↓ for a rank, n p for its calls, 0 for the whole run, f for the fault, d for the finding." }));
  }

  draw() {
    if (this.waits) return;
    this.waits = requestAnimationFrame(() => {
      this.waits = 0;
      RF.drawLanes(this);
      this.drawn = (this.drawn || 0) + 1;
    });
  }
};
