// stacks: what each rank did while the job hung, and notes on what the record no longer has.
RF.stacks = function (run) {
  if (!run.stacks || run.stacks.length === 0) return null;
  return RF.section("stacks", "What the ranks did while the job hung", run.stacks.map((rank) =>
    RF.el("details", { class: "stack" },
      RF.el("summary", {}, RF.el("b", { text: (rank.rank < 0 ? "process " + rank.pid : "rank " + rank.rank) + " " }), RF.el("span", { text: rank.short.join(" · ") })),
      rank.threads.map((thread) => RF.el("div", {}, RF.el("div", { class: "muted", text: thread.head }), RF.el("pre", { text: thread.frames.join("\n") }))),
      rank.threads_left_out ? RF.el("p", { class: "muted", text: RF.count(rank.threads_left_out, "more thread") + " in evidence/" }) : null)));
};

RF.log = function (run) {
  return run.log && run.log.length ? RF.section("log", "What the job wrote", RF.el("pre", { text: run.log.join("\n") })) : null;
};

RF.replay = function (run) {
  const lines = [];
  if (run.replay) lines.push(RF.el("p", { text: "Run it again with the same choices:" }), RF.el("pre", { class: "command", text: run.replay }));
  if (run.dir) lines.push(RF.el("p", { text: "Judge the same records again:" }), RF.el("pre", { class: "command", text: "rankfault judge " + run.dir }));
  return lines.length ? RF.section("replay", "How to replay", lines) : null;
};

RF.notes = function (run, size) {
  const lines = [...(run.notes || [])];
  lines.push("The file has " + RF.fileSize(size) + " (at most " + RF.fileSize(RF.head.bound) + ").");
  if (run.calls !== undefined) {
    lines.push("The timeline has " + RF.count(run.calls, "call") + ".");
    if (run.left_out) lines.push(RF.count(run.left_out, "older call") + " of the record left out to keep the file small.");
    if (run.marks_left_out) lines.push(RF.count(run.marks_left_out, "mark") + " left out.");
    if (run.lost) lines.push(RF.count(run.lost, "record") + " that the run itself no longer has.");
  }
  return RF.section("notes", "About this report", RF.el("ul", {}, lines.map((text) => RF.el("li", { text }))));
};
