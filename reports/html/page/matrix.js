// matrix: the index of several runs: scenarios x back ends, each cell with the newest run's verdict, and how
// its earlier runs went.
RF.newest = (rows) => rows[rows.length - 1];

// The runs of one scenario in the same form (with its faults, or without; of one mutation check), oldest first.
RF.series = function (rows) {
  const all = new Map();
  rows.forEach((row, number) => {
    const form = row.tooth ? "mutation check " + row.tooth : row.faults_on === false ? "reference" : "";
    const key = [row.case, row.back_end || "none", row.scenario, form].join("\u0000");
    if (!all.has(key)) all.set(key, { ...row, form, runs: [] });
    all.get(key).runs.push({ ...row, number });
  });
  for (const series of all.values()) series.runs.sort((a, b) => (a.when || "").localeCompare(b.when || "") || a.number - b.number);
  return [...all.values()];
};

RF.matrix = function (head) {
  const rows = head.rows, series = RF.series(rows);
  const main = series.filter((s) => s.form === ""), others = series.filter((s) => s.form !== "");
  const count = (test) => rows.filter(test).length;
  const bad = main.filter((s) => !RF.newest(s.runs).good);
  const summary = RF.count(rows.length, "run") + ": " + count((r) => r.good && r.verdict !== "skipped") + " as expected, " +
    count((r) => !r.good) + " not as expected, " + count((r) => r.verdict === "skipped") + " skipped.";
  return RF.el("main", { class: "index" },
    RF.el("header", { class: "head " + (bad.length ? "fail" : "pass") },
      RF.el("div", { class: "verdict" }, RF.el("span", { class: "badge " + (bad.length ? "fail" : "pass"), text: bad.length ? "✗ " + RF.count(bad.length, "scenario") + " not as expected" : "✓ the newest runs are as expected" }),
        RF.el("h1", { text: "Runs" })),
      RF.el("p", { class: "story", text: summary }),
      bad.length ? RF.el("ul", { class: "broken" }, bad.slice(0, 12).map((s) => RF.el("li", {}, RF.sign(RF.newest(s.runs).verdict), RF.runLink(RF.newest(s.runs), s.scenario), RF.el("span", { text: " " + RF.newest(s.runs).summary })))) : null),
    RF.section("matrix", "Scenarios and back ends", RF.table(main)),
    others.length ? RF.el("details", {}, RF.el("summary", { text: "Reference runs and mutation checks (" + others.length + ")" }), RF.table(others)) : null,
    RF.section("notes", "About this report", RF.el("p", { text: "Its file has " + RF.fileSize(RF.size()) + " (at most " + RF.fileSize(head.bound) + "). " +
      (count((r) => !r.opens) ? RF.count(count((r) => !r.opens), "older run") + " with a row alone: to see one, rankfault report --format html RUN." : "Each run opens from its cell.") })));
};

RF.table = function (series) {
  const ends = [...new Set(series.map((s) => s.back_end || "none"))].sort();
  const cases = [...new Set(series.map((s) => s.case + (s.form ? ", " + s.form : "")))].sort();
  const cell = (name, end) => series.filter((s) => s.case + (s.form ? ", " + s.form : "") === name && (s.back_end || "none") === end);
  return RF.el("div", { class: "scroll" }, RF.el("table", { class: "matrix" },
    RF.el("thead", {}, RF.el("tr", {}, RF.el("th", { scope: "col", text: "scenario" }), ends.map((end) => RF.el("th", { scope: "col", text: end })))),
    RF.el("tbody", {}, cases.map((name) => RF.el("tr", {}, RF.el("th", { scope: "row", text: name }),
      ends.map((end) => RF.el("td", {}, cell(name, end).map((s) => RF.trend(s)))))))));
};

RF.runLink = function (run, text) {
  if (!run.opens) return RF.el("span", { text });
  return RF.el("a", { href: "#run-" + run.number, text, title: run.outcome + ": " + run.summary });
};
