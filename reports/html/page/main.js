// main: opens the page: the one run, or the index; and a run of the index by the address's #run-N.
RF.read = (id) => JSON.parse(document.getElementById(id).textContent);
RF.head = RF.read("head");
// Of the file, but for its few elements outside script and style.
RF.size = () => [...document.querySelectorAll("script, style")].reduce((n, one) => n + one.textContent.length, 0);

RF.open = function () {
  const wanted = /^#run-(\d+)$/.exec(location.hash), page = document.getElementById("page");
  const number = RF.head.runs === 1 ? 0 : wanted ? Number(wanted[1]) : -1;
  const has = number >= 0 && document.getElementById("run-" + number);
  let shown;
  if (RF.head.runs === 0) shown = RF.el("main", {}, RF.el("p", { text: "There is no run." }));
  else if (has) shown = RF.runView((RF.run = RF.read("run-" + number)));
  else shown = RF.matrix(RF.head);
  const back = has && RF.head.runs > 1 ? RF.el("nav", {}, RF.el("a", { href: "#", text: "← all runs" })) : null;
  document.title = (has ? RF.run.outcome + " " + RF.run.title : RF.count(RF.head.runs, "run")) + " - rankfault";
  page.replaceChildren(...[back, shown].filter(Boolean));
  scrollTo(0, 0);
};

// For tests: what is on the page, in one object.
RF.state = () => ({
  title: document.title,
  drawn: RF.timeline ? RF.timeline.drawn || 0 : 0,
  counted: RF.timeline ? RF.timeline.counted : null,
  view: RF.timeline ? RF.timeline.wanted : null,
  tracks: RF.timeline ? RF.timeline.layout.tracks.length : 0,
  ranks: RF.timeline ? RF.timeline.layout.by_rank.size : 0,
  folded: RF.timeline ? RF.timeline.layout.folded : false,
  marked: RF.timeline && RF.timeline.marked ? RF.timeline.marked.name : "",
  selected: RF.timeline && RF.timeline.selected ? RF.timeline.selected.lane.name(RF.timeline.selected.i) : "",
  said: RF.timeline ? RF.timeline.said.textContent : "",
});

addEventListener("hashchange", RF.open);
RF.open();
