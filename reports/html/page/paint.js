// paint: colours, hatching and marks on the canvas. Each class of call has a colour and a letter; a failure is
// hatched and crossed, a call without an end is dotted and has an arrow.
RF.Paint = class {
  constructor(canvas) {
    this.canvas = canvas;
    this.ctx = canvas.getContext("2d");
    this.theme();
  }

  theme() {
    const style = getComputedStyle(document.documentElement);
    this.colour = {};
    for (const name of [...RF.kClasses, "ink", "muted", "line", "back", "band", "bad", "fault", "blame", "select", "park"])
      this.colour[name] = style.getPropertyValue("--" + name).trim() || "#888";
    this.hatch = { bad: this.pattern("bad", "lines"), open: this.pattern("back", "dots"), park: this.pattern("park", "cross") };
  }

  pattern(name, kind) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const ctx = tile.getContext("2d");
    ctx.strokeStyle = ctx.fillStyle = this.colour[name];
    ctx.lineWidth = 1.6;
    ctx.beginPath();
    if (kind !== "dots") for (const x of [-8, 0, 8]) ctx.moveTo(x, 8), ctx.lineTo(x + 8, 0);
    if (kind === "cross") for (const x of [-8, 0, 8]) ctx.moveTo(x, 0), ctx.lineTo(x + 8, 8);
    ctx.stroke();
    if (kind === "dots") ctx.fillRect(2, 2, 2.5, 2.5);
    return this.ctx.createPattern(tile, "repeat");
  }

  clear(width, height) {
    const ratio = window.devicePixelRatio || 1, canvas = this.canvas;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.ctx.clearRect(0, 0, width, height);
    this.ctx.font = "11px system-ui, sans-serif";
    this.ctx.textBaseline = "middle";
  }

  rect(x, y, width, height, colour) {
    this.ctx.fillStyle = colour;
    this.ctx.fillRect(x, y, width, height);
  }

  text(text, x, y, colour, bold) {
    this.ctx.font = (bold ? "600 " : "") + "11px system-ui, sans-serif";
    this.ctx.fillStyle = colour;
    this.ctx.fillText(text, x, y);
  }

  line(x, y0, y1, colour, dash, width) {
    const ctx = this.ctx;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width || 1;
    ctx.setLineDash(dash || []);
    ctx.beginPath();
    ctx.moveTo(x, y0);
    ctx.lineTo(x, y1);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  // A call. Its name stands in it, or its letter, as far as there is room.
  bar(lane, i, x, width, y, height, left, right) {
    const all = lane.unpacked, state = all.state[i], shape = lane.run.shapes[all.shape[i]];
    const from = Math.max(x, left), shown = Math.min(x + width, right) - from, inset = width > 4 ? 0.5 : 0;
    if (shown <= 0) return;
    this.rect(from + inset, y, Math.max(shown - 2 * inset, 1), height, this.colour[RF.kClasses[shape[1]]]);
    if (state === RF.kState.failed || state === RF.kState.workFailed) {
      this.rect(from, y, shown, height, this.hatch.bad);
      this.close("✕", from, shown, y, height);
    }
    if (state === RF.kState.inside) {
      this.rect(from, y, shown, height, this.hatch.open);
      this.close("▶", from, shown, y, height);
    }
    if (shown < 14) return;
    const name = lane.name(i), room = shown - (state ? 20 : 8);
    const fits = Math.floor(room / 6.4);
    const label = name.length <= fits ? name : fits >= 6 ? name.slice(0, fits - 1) + "…" : RF.kLetters[shape[1]];
    const ctx = this.ctx;
    ctx.font = "11px system-ui, sans-serif";
    if (state) this.rect(from + 2, y + 1, Math.min(ctx.measureText(label).width + 4, shown - 2), height - 2, this.colour[RF.kClasses[shape[1]]]);
    this.text(label, from + 4, y + height / 2, this.colour.back);
  }

  // A call that did not end well has a red frame, and a sign at its end.
  close(sign, from, shown, y, height) {
    this.ctx.strokeStyle = this.colour.bad;
    this.ctx.lineWidth = 1.5;
    this.ctx.strokeRect(from + 0.75, y + 0.75, Math.max(shown - 1.5, 1), height - 1.5);
    this.ctx.lineWidth = 1;
    if (shown < 10) return;
    this.rect(from + shown - 14, y + 1.5, 12.5, height - 3, this.colour.back);
    this.text(sign, from + shown - 12.5, y + height / 2 + 0.5, this.colour.bad, true);
  }

  // Work that goes on after its call returned.
  work(x0, x1, y, bad) {
    if (x1 - x0 < 2) return;
    this.ctx.strokeStyle = bad ? this.colour.bad : this.colour.muted;
    this.ctx.setLineDash(bad ? [3, 2] : []);
    this.ctx.strokeRect(x0, y - 2.5, x1 - x0, 2);
    this.ctx.setLineDash([]);
  }

  flag(letter, x, y, colour) {
    this.rect(x - 6.5, y - 7, 13, 14, colour);
    this.text(letter, x - 4, y + 0.5, this.colour.back, true);
  }
};
