// layout: which ranks the timeline shows, from top to bottom: each rank, or ranks that did the same as one.
RF.kRowHeight = 15;    // higher when there are few ranks
RF.kStripHeight = 11;  // of steps

RF.Layout = class {
  constructor(run) {
    this.run = run;
    this.by_rank = new Map();
    for (const data of run.lanes) {
      const lane = new RF.Lane(data, run), key = lane.rank < 0 ? "process " + lane.pid : lane.rank;
      if (!this.by_rank.has(key)) this.by_rank.set(key, []);
      this.by_rank.get(key).push(lane);
    }
    for (let rank = 0; rank < Math.min(run.world_size, 16384); ++rank)
      if (!this.by_rank.has(rank)) this.by_rank.set(rank, []);
    RF.kRowHeight = this.by_rank.size <= 8 ? 21 : 15;
    this.groups_ = this.grouped();
    this.fold(this.by_rank.size > 16 && this.groups_.length < this.by_rank.size);
  }

  // Ranks with the same calls, results and ends, that were never parked and that no finding blames.
  grouped() {
    const special = new Set(this.run.parks.map((park) => park.rank)), groups = new Map();
    for (const [key, lanes] of this.by_rank) {
      const did = lanes.map((l) => l.did + "/" + (l.end ? l.end.text : "")).join(" ");
      const same = special.has(key) || typeof key !== "number" ? "alone " + key : did;
      if (!groups.has(same)) groups.set(same, []);
      groups.get(same).push(key);
    }
    return [...groups.values()];
  }

  fold(on) {
    this.folded = on;
    const groups = on ? this.groups_ : [...this.by_rank.keys()].sort((a, b) => this.order(a) - this.order(b)).map((key) => [key]);
    this.tracks = groups.map((keys) => this.track(keys));
    let y = 0;
    for (const track of this.tracks) {
      track.y = y;
      y += track.height;
    }
    this.height = y;
  }

  order(key) {
    return typeof key === "number" ? key : Infinity;
  }

  track(keys) {
    const lanes = this.by_rank.get(keys[0]);
    const of_rank = typeof keys[0] === "number";
    const name = !of_rank ? keys[0] : keys.length > 1 ? RF.ranks(keys) : "rank " + keys[0];
    const track = { keys, lanes, name, of_rank, rank: of_rank ? keys[0] : -1 };
    // Lanes are unpacked when they are drawn: until then a row is assumed.
    track.rows = Math.max(1, ...lanes.filter((l) => l.rows_ || this.by_rank.size <= 64).map((l) => l.rows.length));
    track.height = RF.kStripHeight + track.rows * RF.kRowHeight + 6;
    return track;
  }

  track_of(rank) {
    return this.tracks.find((track) => track.keys.includes(rank));
  }

  at(y) {
    return this.tracks.find((track) => y >= track.y && y < track.y + track.height);
  }
};
