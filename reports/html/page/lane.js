// lane: the calls of one process of a rank, unpacked when they are first needed, and its rows: one for each
// thread, and one for calls inside other calls (files, devices).
RF.kState = { returned: 0, failed: 1, inside: 2, pending: 3, workDone: 4, workFailed: 5 };
RF.kClasses = ["collective", "message", "wait", "life", "file", "device", "other"];
RF.kLetters = ["C", "M", "W", "L", "F", "D", "O"];
const kMostRows = 4;

RF.Lane = class {
  constructor(data, run) {
    Object.assign(this, data);
    this.run = run;
    this.over = data.end ? data.end.t : run.end;
  }

  get unpacked() {
    return this.all || (this.all = this.unpack());
  }

  unpack() {
    const n = this.n, pack = new RF.Pack(this.calls);
    const all = { begin: new Float64Array(n), end: new Float64Array(n), shape: new Uint32Array(n), state: new Uint8Array(n),
                  seq: new Float64Array(n), work: new Map(), result: new Map() };
    const seqs = new Map();
    let time = 0;
    for (let i = 0; i < n; ++i) {
      time += pack.next();
      const length = pack.next(), kind = pack.next(), state = kind % 8, shape = (kind - state) / 8;
      all.begin[i] = time;
      all.end[i] = length === 0 ? this.over : time + length - 1;
      all.shape[i] = shape;
      all.state[i] = state;
      all.seq[i] = (seqs.get(shape) || 0) + pack.signed();
      seqs.set(shape, all.seq[i]);
      if (state >= RF.kState.workDone) all.work.set(i, all.end[i] + pack.next());
      if (state === RF.kState.pending) all.work.set(i, this.over);
      if (state === RF.kState.failed || state === RF.kState.workFailed) all.result.set(i, pack.signed());
    }
    this.calls = null;
    return all;
  }

  // Each row has the indices of its calls, sums of their time and of those that failed or never ended, and the
  // latest end so far.
  get rows() {
    if (this.rows_) return this.rows_;
    const all = this.unpacked, rows = [];
    const row_of = new Map();
    for (let i = 0; i < this.n; ++i) {
      const shape = this.run.shapes[all.shape[i]];
      const inner = shape[1] === 4 || shape[1] === 5;
      const key = inner ? "inner" : Math.min(shape[8], kMostRows - 1);
      if (!row_of.has(key)) {
        row_of.set(key, { key, calls: [] });
        rows.push(row_of.get(key));
      }
      row_of.get(key).calls.push(i);
    }
    rows.sort((a, b) => (a.key === "inner") - (b.key === "inner") || a.key - b.key);
    for (const row of rows) this.sum(row);
    return (this.rows_ = rows);
  }

  sum(row) {
    const n = row.calls.length, all = this.unpacked;
    row.begin = new Float64Array(n);
    row.latest = new Float64Array(n);
    row.busy = new Float64Array(n + 1);
    row.bad = new Uint32Array(n + 1);
    for (let k = 0; k < n; ++k) {
      const i = row.calls[k], state = all.state[i];
      row.begin[k] = all.begin[i];
      row.latest[k] = Math.max(k ? row.latest[k - 1] : 0, all.end[i]);
      row.busy[k + 1] = row.busy[k] + all.end[i] - all.begin[i];
      row.bad[k + 1] = row.bad[k] + (state !== RF.kState.returned && state !== RF.kState.workDone ? 1 : 0);
    }
  }

  get stepList() {
    if (this.steps_) return this.steps_;
    const pack = new RF.Pack(this.steps), out = [];
    for (let i = 0, time = 0, number = 0; i < this.n_steps; ++i)
      out.push([(time += pack.next()), (number += pack.signed())]);
    return (this.steps_ = out);
  }

  // What a person reads about call i: pairs of a word and its text.
  describe(i) {
    const all = this.unpacked, text = (n) => (n < 0 ? "" : this.run.texts[n]);
    const [op, , comm, size, elements, peer, site, library, , path] = this.run.shapes[all.shape[i]];
    const state = all.state[i], begin = all.begin[i], end = all.end[i], out = [];
    const words = ["returned", "failed", "never left", "its work was not seen complete", "its work is done", "its work failed"];
    out.push(["operation", text(op) + (all.seq[i] ? " " + all.seq[i] : "") + (comm < 0 ? "" : " on " + text(comm))]);
    out.push(["rank", (this.rank < 0 ? "process " + this.pid : String(this.rank)) + (this.attempt ? ", attempt " + this.attempt : "")]);
    if (all.seq[i]) out.push(["sequence number", String(all.seq[i])]);
    if (elements >= 0) out.push(["size", text(elements) + (size >= 0 ? " (" + RF.bytes(size) + ")" : "")]);
    if (peer >= 0) out.push(["peer", text(peer)]);
    if (path >= 0) out.push(["path", text(path)]);
    out.push(["source line", site < 0 ? "not known" : text(site)]);
    out.push(["time", RF.time(begin, 1e6) + ", " + RF.length(end - begin) + (state === 2 ? " until its end" : "")]);
    out.push(["state", words[state] + (all.result.has(i) ? ", result " + all.result.get(i) : "")]);
    if (all.work.has(i)) out.push(["work", RF.length(all.work.get(i) - end) + " after its return"]);
    out.push(["library", text(library)]);
    return out;
  }

  name(i) {
    const all = this.unpacked, shape = this.run.shapes[all.shape[i]];
    return this.run.texts[shape[0]] + (all.seq[i] ? " " + all.seq[i] : "");
  }
};
