// run_view: the report of one run: verdict and story first, then the timeline, then what explains it.
RF.runView = function (run) {
  const parts = [RF.headOf(run)];
  RF.timeline = null;
  if (run.lanes) {
    RF.timeline = new RF.Timeline(run);
    parts.push(RF.timelineSection(run, RF.timeline));
  }
  if (run.findings && run.findings.length) parts.push(RF.findings(run));
  parts.push(RF.expectations(run), RF.faults(run), RF.variants(run), RF.stacks(run), RF.log(run), RF.replay(run), RF.notes(run, RF.size()));
  return RF.el("main", { class: "run" }, parts);
};

// What the verdict says of the job.
RF.meaning = function (run) {
  if (run.skipped) return "nothing was started";
  if (!run.expectations.length) return "the scenario expects nothing";
  const meanings = { pass: "the job did what the scenario expects", fail: "the job did not do what the scenario expects",
                     unknown: "the records do not say whether the job did what the scenario expects", void: "a fault had no effect: nothing was tested" };
  return meanings[run.verdict] + (run.outcome.includes("as expected") ? (run.good ? ", and that was due" : ", and another verdict was due") : "");
};

RF.headOf = function (run) {
  const word = run.outcome, tone = run.skipped ? "skipped" : run.good ? "pass" : run.verdict === "fail" ? "fail" : "unknown";
  const broken = (run.expectations || []).filter((e) => e.verdict !== "pass" && !run.story.includes(e.because));
  const cause = (run.findings || []).find((f) => f.caused_by < 0);
  const facts = [];
  if (run.faults && run.faults.length) facts.push(["injected", run.faults.map((f) => f.how || f.id).slice(0, 2).join("; "), run.faults[0].t, run.faults[0].rank]);
  if (cause) facts.push(["found", RF.line(cause), cause.trouble ? cause.t : null, cause.ranks.length ? cause.ranks[0] : -1, cause.trouble ? cause.confidence : null]);
  if (run.ended) facts.push(["ended", run.ended, null, -1]);
  return RF.el("header", { class: "head " + tone },
    run.notice ? RF.el("p", { class: "notice", text: run.notice }) : null,
    RF.el("div", { class: "verdict" }, RF.el("span", { class: "badge " + tone }, RF.el("span", { "aria-hidden": "true", text: tone === "pass" ? "✓ " : tone === "fail" ? "✗ " : "? " }), RF.el("span", { text: word })),
      RF.el("h1", { text: run.title || "run" }), RF.el("span", { class: "muted", text: RF.meaning(run) })),
    RF.el("p", { class: "story", text: run.story }),
    broken.length ? RF.el("ul", { class: "broken", "aria-label": "expectations that do not hold" }, broken.slice(0, 5).map((e) =>
      RF.el("li", {}, RF.sign(e.verdict), RF.el("b", { text: e.id + " " }), RF.el("span", { text: e.because })))) : null,
    RF.el("dl", { class: "facts" }, facts.map(([word, text, t, rank, chip]) => RF.el("div", { class: word }, RF.el("dt", { text: word }),
      RF.el("dd", {}, chip ? RF.el("span", { class: "chip " + chip, text: chip }) : null, RF.el("span", { text: " " + text + " " }), RF.when(t, rank, word))))));
};

RF.timelineSection = function (run, view) {
  const button = (text, act, label) => RF.el("button", { type: "button", text, "aria-label": label, on: { click: act } });
  const fold = RF.el("input", { type: "checkbox", id: "fold", on: { change: () => view.fold(fold.checked) } });
  fold.checked = view.layout.folded;
  const merged = view.layout.by_rank.size - view.layout.groups_.length;
  const legend = RF.kClasses.slice(0, 6).map((name, i) => RF.el("span", { class: "key" }, RF.el("span", { class: "swatch " + name, "aria-hidden": "true", text: RF.kLetters[i] }),
    ["collective", "message", "wait", "start, end, communicators", "files", "device"][i]));
  const shown = new Set(run.shapes.map((shape) => shape[1]));
  const moments = run.moments.slice(0, 12).map((moment) => RF.el("li", {}, RF.el("span", { class: "flag " + moment.key, "aria-hidden": "true", text: moment.key }), RF.el("span", { text: " " + moment.what + " " }), RF.when(moment.t, moment.rank, moment.what)));
  return RF.section("timeline", "Timeline",
    RF.el("ul", { class: "moments", "aria-label": "moments" }, moments, run.moments.length > 12 ? RF.el("li", { class: "muted", text: RF.count(run.moments.length - 12, "more moment") + " in the timeline" }) : null),
    RF.el("div", { class: "tools" },
      button("−", () => view.zoomBy(1 / 1.6), "zoom out"), button("+", () => view.zoomBy(1.6), "zoom in"),
      button("◀", () => view.panBy(-0.3), "earlier"), button("▶", () => view.panBy(0.3), "later"),
      button("whole run", () => view.setView(view.whole())),
      run.moments.some((m) => m.key === "F") ? button("fault", () => view.keys.moment("F"), "show the fault") : null,
      run.moments.some((m) => m.key === "D") ? button("finding", () => view.keys.moment("D"), "show the finding") : null,
      merged > 0 ? RF.el("label", { for: "fold" }, fold, " ranks that did the same as one (" + RF.count(view.layout.groups_.length, "lane") + ")") : null),
    view.box, view.said,
    RF.el("p", { class: "legend" }, legend.filter((_, i) => shown.has(i)), RF.el("span", { class: "key" }, RF.el("span", { class: "swatch bad", "aria-hidden": "true", text: "✕" }), "failed"),
      RF.el("span", { class: "key" }, RF.el("span", { class: "swatch open", "aria-hidden": "true", text: "▶" }), "never left"),
      run.parks.length ? RF.el("span", { class: "key" }, RF.el("span", { class: "swatch park", "aria-hidden": "true" }), "parked for a fault") : null));
};
