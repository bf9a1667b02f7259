// lists: findings, expectations with the lines that decide them, faults, and variants of a comparison.
RF.findings = function (run) {
  const causes = run.findings.filter((f) => f.caused_by < 0), effects = run.findings.filter((f) => f.caused_by >= 0);
  const first = causes.map((finding, i) => RF.finding(finding, i));
  const then = effects.length === 0 ? null :
    RF.el("details", { class: "effects", open: effects.length <= 4 },
      RF.el("summary", { text: RF.count(effects.length, "effect") + " of it" }),
      RF.el("ul", {}, effects.map((f) => RF.el("li", {}, RF.el("b", { text: RF.line(f) + " " }), RF.el("span", { class: "chip", text: f.confidence }), " ", RF.when(f.t, f.ranks[0], f.line), RF.el("div", { text: f.text })))));
  return RF.section("findings", "What rankfault found", first, then);
};

// Without the confidence, which stands beside it.
RF.line = (f) => f.line.replace(", handled", "").replace(new RegExp(", " + f.confidence + "$"), "");

RF.finding = function (f, number) {
  const open = f.assumes.filter((a) => !a.holds);
  return RF.el("article", { class: "finding " + (f.trouble ? f.confidence : f.kind === "none" ? "fine" : ""), "aria-label": f.line },
    RF.el("h3", {}, f.trouble ? RF.el("span", { class: "chip", text: f.confidence + (f.handled ? ", handled" : "") }) : null,
      RF.el("span", { text: " " + RF.line(f) + " " }), f.trouble ? RF.when(f.t, f.ranks.length ? f.ranks[0] : -1, f.line) : null),
    f.text ? RF.el("p", { text: f.text }) : null,
    f.sides.length ? RF.el("ul", { class: "sides" }, f.sides.map((side) => RF.el("li", { text: side }))) : null,
    f.graph ? RF.waitFor(f.graph, number) : null,
    f.ends_by ? RF.el("p", { text: "It ends by: " + f.ends_by }) : null,
    f.evidence.length || f.assumes.length ? RF.el("details", {}, RF.el("summary", { text: "evidence" + (open.length ? ", and why it is not proven" : "") }),
      RF.el("ul", {}, f.evidence.map((line) => RF.el("li", { text: line }))),
      RF.el("ul", { class: "assumes" }, f.assumes.map((a) => RF.el("li", {}, RF.sign(a.holds ? "pass" : "unknown"), " " + a.name + (a.why ? ": " + a.why : ""))))) : null);
};

RF.expectations = function (run) {
  if (run.expectations.length === 0) return null;
  const rows = run.expectations.map((e) =>
    RF.el("li", { class: "expectation " + e.verdict }, RF.sign(e.verdict), RF.el("b", { text: e.id }), RF.el("span", { class: "because", text: e.because }),
      e.lines.length ? RF.el("details", { open: e.verdict === "fail" }, RF.el("summary", { text: "decided by " + RF.count(e.lines.length + e.lines_left_out, "event") }),
        RF.el("ul", {}, e.lines.map((line) => RF.el("li", {}, RF.when(line.t, line.rank, line.text), " " + line.text + " ", RF.el("span", { class: "muted", text: "journal line " + line.n }))),
          e.lines_left_out ? RF.el("li", { text: RF.count(e.lines_left_out, "more line") }) : null)) : null));
  return RF.section("expectations", "What the scenario expects", RF.el("ul", { class: "expectations" }, rows));
};

RF.faults = function (run) {
  if (!run.faults || run.faults.length === 0) return null;
  return RF.section("faults", "What was injected", RF.el("ul", { class: "expectations" }, run.faults.map((fault) =>
    RF.el("li", {}, RF.sign(fault.verified ? "pass" : "unknown"), RF.el("b", { text: fault.id }), RF.el("span", { class: "because" }, RF.el("span", { text: fault.how + " " }), RF.when(fault.t, fault.rank, fault.id))))));
};

RF.variants = function (run) {
  if (!run.variants) return null;
  return RF.section("variants", "Variants", RF.el("ul", { class: "expectations" }, run.variants.map((row) =>
    RF.el("li", {}, RF.sign(row.verdict), RF.el("b", { text: row.id + "." + row.run }),
      RF.el("span", { class: "because", text: RF.count(row.ranks, "rank") + ", " + row.seconds.toFixed(1) + " s: " + row.summary })))));
};
