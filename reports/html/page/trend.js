// trend: the past runs of one scenario as a small picture: a bar for each run, its height by the run's length,
// its sign by the verdict.
RF.kTrend = { runs: 24, width: 9, height: 22 };

RF.trend = function (series) {
  const last = RF.newest(series.runs), shown = series.runs.slice(-RF.kTrend.runs);
  const longest = Math.max(...shown.map((run) => run.seconds || 0), 0.001);
  const text = (run) => (run.when ? run.when + ": " : "") + run.outcome + (run.seconds ? ", " + run.seconds.toFixed(1) + " s" : "");
  const link = RF.runLink(last, last.outcome);
  link.setAttribute("aria-label", series.scenario + ": " + last.outcome);
  const parts = [RF.el("span", { class: "state " + (last.verdict === "skipped" ? "skipped" : last.good ? "good" : "bad") }, RF.sign(last.verdict), link)];
  if (shown.length > 1) {
    const { width, height } = RF.kTrend;
    const svg = d3.select(document.createElementNS("http://www.w3.org/2000/svg", "svg")).attr({ class: "trend", width: shown.length * width, height: height + 10, role: "img",
      "aria-label": "past runs, oldest first: " + shown.map(text).join("; ") });
    shown.forEach((run, k) => {
      const high = Math.max(3, (height * (run.seconds || 0)) / longest);
      const bar = svg.append("g").attr("class", run.good ? "good" : "bad");
      bar.append("rect").attr({ x: k * width + 1, y: height - high, width: width - 2, height: high });
      bar.append("text").attr({ x: k * width + width / 2, y: height + 9, "text-anchor": "middle" }).text(RF.signs[run.verdict] || "?");
      bar.append("title").text(text(run));
      if (run.opens) bar.style("cursor", "pointer").on("click", () => (location.hash = "run-" + run.number));
    });
    parts.push(svg.node());
  }
  return RF.el("div", { class: "cell" }, parts);
};
