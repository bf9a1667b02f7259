// core: what all modules of the page share: elements, times, sizes. Texts of a run become textContent only.
const RF = (window.RF = {});

// Makes an element. Keys of `with_`: class, text, on (event handlers); all others are attributes.
RF.el = function (tag, with_, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(with_ || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") made.className = value;
    else if (key === "text") made.textContent = value;
    else if (key === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) if (child) made.append(child);
  return made;
};

// A clock tick is a tenth of a microsecond.
RF.length = function (ticks) {
  const us = ticks / 10;
  if (us < 1) return us.toFixed(1) + " µs";
  if (us < 1000) return (us < 100 ? us.toPrecision(2).replace(/\.0$/, "") : Math.round(us)) + " µs";
  if (us < 1e6) return Number((us / 1000).toPrecision(3)) + " ms";
  return Number((us / 1e6).toPrecision(4)) + " s";
};

// Since the begin of the run. `span`: the length of the view, which decides how many digits tell.
RF.time = function (ticks, span) {
  const seconds = ticks / 1e7;
  const digits = span === undefined ? 3 : Math.min(7, Math.max(0, 2 - Math.floor(Math.log10(span / 1e7))));
  return "+" + seconds.toFixed(digits) + " s";
};

// Of files: 20 MB is 20,000,000 bytes.
RF.fileSize = (n) => (n >= 1e6 ? Number((n / 1e6).toPrecision(3)) + " MB" : Math.ceil(n / 1000) + " kB");

RF.bytes = function (n) {
  if (n < 0) return "";
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024]])
    if (n >= size) return Number((n / size).toPrecision(3)) + " " + unit;
  return n + (n === 1 ? " byte" : " bytes");
};

// "0-3 7": as the findings write ranks.
RF.ranks = function (ranks) {
  const parts = [];
  for (let i = 0; i < ranks.length; ) {
    let end = i;
    while (end + 1 < ranks.length && ranks[end + 1] === ranks[end] + 1) ++end;
    if (end - i >= 2) parts.push(ranks[i] + "-" + ranks[end]);
    else for (let k = i; k <= end; ++k) parts.push(String(ranks[k]));
    i = end + 1;
  }
  return parts.join(" ");
};

RF.rankWords = (ranks) => (ranks.length === 1 ? "rank " : "ranks ") + RF.ranks(ranks);

RF.count = (n, noun) => n.toLocaleString("en") + " " + noun + (n === 1 ? "" : "s");

// A sign, and a word for those who see no sign: a verdict is never told by its colour alone.
RF.signs = { pass: "✓", fail: "✗", unknown: "?", void: "?", skipped: "–" };
RF.sign = (verdict) =>
  RF.el("span", { class: "sign " + verdict, title: verdict, role: "img", "aria-label": verdict, text: RF.signs[verdict] || "?" });

// A button that shows an instant in the timeline.
RF.when = function (t, rank, name) {
  if (t === null || t === undefined) return null;
  return RF.el("button", {
    type: "button", class: "when", text: RF.time(t), title: "show it in the timeline",
    "aria-label": (name ? name + ": " : "") + "show " + RF.time(t) + " in the timeline",
    on: { click: () => RF.timeline && RF.timeline.show(t, rank) },
  });
};

RF.section = function (id, title, ...children) {
  return RF.el("section", { id, "aria-labelledby": id + "-title" }, RF.el("h2", { id: id + "-title", text: title }), children);
};
