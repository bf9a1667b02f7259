// keys: the timeline by keyboard.
RF.Keys = class {
  constructor(view) {
    this.view = view;
    this.acts = {
      ArrowLeft: () => view.panBy(-0.2), ArrowRight: () => view.panBy(0.2),
      "+": () => view.zoomBy(1.6), "=": () => view.zoomBy(1.6), "-": () => view.zoomBy(1 / 1.6),
      0: () => view.setView(view.whole()), Home: () => view.setView(view.whole()),
      ArrowUp: () => this.rank(-1), ArrowDown: () => this.rank(1),
      PageUp: () => this.rank(-10), PageDown: () => this.rank(10),
      n: () => this.call(1), p: () => this.call(-1),
      f: () => this.moment("F"), d: () => this.moment("D"),
      Escape: () => { view.selected = view.marked = view.cursor = null; view.say(""); view.draw(); },
    };
    view.canvas.addEventListener("keydown", (event) => {
      const act = this.acts[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }

  rank(by) {
    const view = this.view, tracks = view.layout.tracks;
    if (tracks.length === 0) return;
    const now = tracks.indexOf(view.marked), next = now < 0 ? (by > 0 ? 0 : tracks.length - 1) : Math.min(Math.max(now + by, 0), tracks.length - 1);
    view.marked = tracks[next];
    view.selected = null;
    view.reveal(view.marked);
    view.say(view.marked.name + ": " + this.summary(view.marked));
    view.draw();
  }

  summary(track) {
    if (track.lanes.length === 0) return "no record of it";
    return track.lanes.map((lane) => RF.count(lane.n, "call") + (lane.end ? ", " + this.view.run.texts[lane.end.text] : "")).join("; ");
  }

  // The next call of the rank after the selected one, else the first one in view.
  call(by) {
    const view = this.view, track = view.marked || view.layout.tracks[0];
    if (!track || track.lanes.length === 0) return;
    view.marked = track;
    const chosen = view.selected && view.selected.track === track ? view.selected : null;
    let lane = chosen ? chosen.lane : track.lanes.find((l) => l.over >= view.wanted[0]) || track.lanes[0];
    let i = chosen ? chosen.i + by : RF.lowerBound(lane.unpacked.begin, view.wanted[0], 0, lane.n);
    const at = track.lanes.indexOf(lane);
    if (i >= lane.n && at + 1 < track.lanes.length) [lane, i] = [track.lanes[at + 1], 0];
    else if (i < 0 && at > 0) [lane, i] = [track.lanes[at - 1], track.lanes[at - 1].n - 1];
    i = Math.min(Math.max(i, 0), lane.n - 1);
    if (lane.n > 0) view.select(track, lane, i);
  }

  moment(key) {
    const found = this.view.run.moments.find((moment) => moment.key === key);
    if (found) this.view.show(found.t, found.rank);
  }
};
