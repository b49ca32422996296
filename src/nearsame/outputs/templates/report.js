"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const make = (name, given = {}, ...inner) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) if (value !== null) made.setAttribute(key, value);
  made.append(...inner);
  return made;
};
const FIRST = 25, MANY = 5, cut = value => (Math.floor(value * 10000 + 1e-7) / 10000).toFixed(4);
const named = id => id.trim() || "(blank id)", count = number => number.toLocaleString("en"), several = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const state = { step: 0, key: "similarity", down: false, shown: FIRST, open: null, hidden: new Set(), apart: new Set(), grouped: false };

// what a row is found by: once, since it is asked for at each letter
const rows = data.pairs.map((pair, number) => {
  const a = data.documents[pair.a], b = data.documents[pair.b];
  const view = pair.beside < 0 ? null : data.beside[pair.beside];
  const texts = view ? [...view.a, ...view.b].map(piece => piece[1]).join("") : pair.excerpt;
  return { ...pair, number, first: a, second: b, view, words: [a.id, b.id, texts].join("\n").toLowerCase() };
});

// the query: every word must hold
const terms = text => (text.match(/-?(?:\w+:)?"[^"]*"|\S+/g) || []).map(word => {
  const not = word.length > 1 && word[0] === "-", rest = (not ? word.slice(1) : word).replaceAll('"', "");
  const holds = rule(rest);
  return row => Boolean(holds(row)) !== not;
});
const rule = word => {
  const number = /^([<>]=?|=)(\d*\.?\d+)$/.exec(word), named = /^(source|cluster|kind|measure|id):(.+)$/i.exec(word);
  if (number) {
    const [, sign, value] = number;
    return row => sign === "=" ? cut(row.similarity) === cut(+value)
      : sign[0] === ">" ? (row.similarity > +value || sign[1] && row.similarity >= +value)
      : (row.similarity < +value || sign[1] && row.similarity <= +value);
  }
  if (named) {
    const value = named[2].toLowerCase(), has = text => text.toLowerCase().includes(value);
    return {
      source: row => has(row.first.source) || has(row.second.source),
      id: row => has(row.first.id) || has(row.second.id),
      cluster: row => String(row.cluster) === value,
      kind: row => row.kind === value || has(data.kinds[row.kind]),
      measure: row => has(row.measure),
    }[named[1].toLowerCase()];
  }
  const lower = word.toLowerCase();
  return row => row.words.includes(lower);
};

const columns = [
  ["similarity", "Similarity", row => row.similarity],
  ["id", data.of === "dedup" ? "Removed, and its witness" : "The two documents", row => row.first.id],
  ["kind", "In common", row => Object.keys(data.kinds).indexOf(row.kind)],
  ["source", "Source", row => row.first.source],
];
const shown = { source: new Set(data.documents.map(one => one.source)).size > 1, kind: at("kinds") };
const seen = columns.filter(([key]) => !(key in shown) || shown[key]);

// clusters by the number of their pairs here, the most first
const clusters = new Map();
rows.forEach(row => clusters.set(row.cluster, (clusters.get(row.cluster) || 0) + 1));
const ofCluster = (x, y) => state.grouped ? clusters.get(y.cluster) - clusters.get(x.cluster) || x.cluster - y.cluster : 0;

const chosen = () => {
  const wanted = terms(at("query").value), value = columns.find(column => column[0] === state.key)[2];
  const way = state.down ? -1 : 1;
  const order = (x, y) => { const a = value(x), b = value(y); return a < b ? -way : a > b ? way : x.number - y.number; };
  return rows
    .filter(row => !state.hidden.has(row.kind) && ![...state.apart].some(has => has(row)) && (!data.thresholds.length || row.at >> state.step & 1) && wanted.every(holds => holds(row)))
    .sort((x, y) => ofCluster(x, y) || order(x, y));
};

// judging: marks in the order in which they were given, so that the last can be taken back; the last word on a pair counts
const LABELS = { yes: "right", no: "wrong", unknown: "unsure" }, KEYS = { y: "yes", n: "no", u: "unknown" };
const memory = `nearsame ${data.name}`;
let marks = [];
try { marks = JSON.parse(localStorage.getItem(memory)) || []; } catch { /* a browser that keeps nothing */ }
const verdicts = () => new Map(marks);

const remember = () => {
  try { localStorage.setItem(memory, JSON.stringify(marks)); } catch { at("kept").textContent = "This browser keeps nothing: save the marks as a file before you leave."; }
  draw();
  judged();
};
const judge = (number, label) => {
  marks.push([number, label]);
  remember();
  const given = verdicts(), all = strata();
  const order = row => [all.get(stratum(binOf(row))).seen, row.number * 2654435761 % 4294967296];  // the least known first, then by chance
  const next = list.filter(row => row.view && !given.has(row.number))
    .reduce((best, row) => { const [a, b] = [best, row].map(one => one && order(one)); return !best || b[0] < a[0] || b[0] === a[0] && b[1] < a[1] ? row : best; }, null);
  if (next) { state.shown = Math.max(state.shown, list.indexOf(next) + 1); show(next.number); }
};
const undo = () => { const last = marks.pop(); remember(); if (last) show(last[0]); };

// each bar of the chart counts by its number of pairs; those that are judged stand for their stratum of some bars
const STRATUM = 4, Z = 1.96;
const edges = data.bins.map(one => one.least), stratum = bin => bin === edges.length - 1 ? -1 : Math.floor(bin / STRATUM);
const binOf = row => edges.findLastIndex(least => least <= row.similarity + 1e-12);
const strata = () => {
  const all = new Map(), given = verdicts();
  data.bins.forEach((one, bin) => {
    const part = all.get(stratum(bin)) || { pairs: 0, yes: 0, no: 0, seen: 0 };
    part.pairs += one.pairs;
    all.set(stratum(bin), part);
  });
  rows.forEach(row => {
    const label = given.get(row.number), part = all.get(stratum(binOf(row)));
    if (label) part.seen += 1;
    if (label === "yes" || label === "no") part[label] += 1;
  });
  return all;
};
// how many of the pairs of some bars are right: [least, about, most]; a stratum of which nothing is judged says nothing
const right = (all, from, to) => {
  const sizes = new Map();
  data.bins.forEach((one, bin) => { if (bin >= from && bin < to) sizes.set(stratum(bin), (sizes.get(stratum(bin)) || 0) + one.pairs); });
  let about = 0, variance = 0, open = 0, total = 0;
  for (const [name, size] of sizes) {
    const { yes, no, pairs } = all.get(name), n = yes + no;
    total += size;
    if (!n) { open += size; continue; }
    const smooth = (yes + 1) / (n + 2);
    about += size * yes / n;
    variance += size ** 2 * smooth * (1 - smooth) / n * Math.max(0, 1 - n / pairs);
  }
  const spread = Z * Math.sqrt(variance);
  return { least: Math.max(0, about - spread), about: open ? null : about, most: Math.min(total, about + spread + open), total };
};
const over = (part, whole) => whole ? part / whole : null;
const quality = all => edges.map((_, bin) => {
  const above = right(all, bin, edges.length), below = right(all, 0, bin);
  return {
    precision: { about: above.about === null ? null : over(above.about, above.total), least: over(above.least, above.total), most: over(above.most, above.total) },
    recall: {
      about: above.about === null || below.about === null ? null : over(above.about, above.about + below.about),
      least: over(above.least, above.least + below.most), most: over(above.most, above.most + below.least),
    },
  };
});
const told = share => share.least === null || share.most === null ? "unknown" : `${share.about === null ? "" : `${share.about.toFixed(2)} `}[${share.least.toFixed(2)}, ${share.most.toFixed(2)}]`;

const judged = () => {
  if (!at("judging")) return;  // there are no texts to judge by
  const given = verdicts(), labels = [...given.values()], all = strata(), curve = quality(all);
  const number = label => labels.filter(one => one === label).length;
  at("progress").textContent = `${count(given.size)} of the ${count(data.beside.length)} pairs with texts are judged: `
    + Object.entries(LABELS).map(([label, name]) => `${count(number(label))} ${name}`).join(", ") + ".";
  at("quality").textContent = number("yes") + number("no") ? "" : "Nothing is known before some are judged.";
  for (const name of ["undo", "save"]) at(name).disabled = !marks.length;
  if (number("yes") + number("no")) {
    const bin = data.thresholds.length ? edges.length - data.thresholds.length + state.step : 0;
    at("quality").textContent = `At ${+cut(edges[bin])}: precision ${told(curve[bin].precision)}, recall ${told(curve[bin].recall)} of the right pairs that the run has found.`;
  }
  at("curve").replaceChildren(...drawn(number("yes") + number("no") ? curve : []));
};

const svg = (name, given) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
  return made;
};
const drawn = curve => {
  const x = bin => 60 + (bin + .5) * 660 / edges.length, y = value => 10 + (1 - value) * 200, made = [];
  const text = (given, words) => { const one = svg("text", given); one.textContent = words; made.push(one); };
  for (const value of [0, .25, .5, .75, 1]) {
    made.push(svg("line", { class: "axis", x1: 60, x2: 720, y1: y(value), y2: y(value) }));
    text({ x: 54, y: y(value) + 4, "text-anchor": "end" }, value);
  }
  const each = Math.max(1, Math.round(edges.length / 8));
  edges.forEach((least, bin) => { if (bin % each === 0) text({ x: x(bin), y: 228, "text-anchor": "middle" }, +cut(least)); });
  for (const name of ["precision", "recall"]) {
    const known = curve.map((one, bin) => [bin, one[name]]).filter(([, share]) => share.least !== null && share.most !== null);
    const band = [...known.map(([bin, share]) => `${x(bin)},${y(share.most)}`), ...known.reverse().map(([bin, share]) => `${x(bin)},${y(share.least)}`)];
    made.push(svg("polygon", { class: `band ${name}`, points: band.join(" ") }));
    made.push(svg("polyline", { class: `curve ${name}`, points: known.reverse().filter(([, share]) => share.about !== null).map(([bin, share]) => `${x(bin)},${y(share.about)}`).join(" ") }));
  }
  return made;
};

// a file that `evaluate --truth` and `dedup --decisions` read, and `review` goes on with: what a pair stands for is its weight; it holds pairs whose ids name them, and no others
const tells = ids => ids[0] !== ids[1] && !ids.some(id => /[\t\p{Zl}\p{Zp}\x0a-\x0d\x1c-\x1e\x85]/u.test(id) || id !== id.trim() || !id);
const pairOf = ids => JSON.stringify([...ids].sort());
const byIds = () => {
  const known = new Map();
  for (const row of rows) {
    const pair = pairOf([row.first.id, row.second.id]);
    known.set(pair, [...known.get(pair) || [], row]);
  }
  return known;
};
const save = () => {
  const all = strata(), known = byIds(), lines = ["id1\tid2\tlabel\tkeep\tnote\twho\twhen\tweight"];
  let without = 0, now = `${new Date().toISOString().slice(0, 19)}Z`;
  for (const [number, label] of verdicts()) {
    const row = rows[number], part = all.get(stratum(binOf(row))), ids = [row.first.id, row.second.id];
    if (row.first.is_cut || row.second.is_cut || !tells(ids) || known.get(pairOf(ids)).length > 1) { without += 1; continue; }
    lines.push([...ids, label, "", "", "", now, Math.max(1, part.pairs / part.seen)].join("\t"));
  }
  const link = make("a", { download: "judged.tsv", href: URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/plain" })) });
  link.click();
  URL.revokeObjectURL(link.href);
  at("kept").textContent = without ? `Not in the file: ${several(without, "pair")} with ids that are cut here, name other documents, too, or have tabs, line breaks or blanks at an end.` : "";
};
const WORDS = { yes: "yes", true: "yes", duplicate: "yes", y: "yes", right: "yes", same: "yes", no: "no", false: "no", different: "no", n: "no", wrong: "no", distinct: "no", unknown: "unknown", unsure: "unknown", maybe: "unknown", u: "unknown", "?": "unknown", nan: "unknown", "": "" };
const meaning = word => Object.hasOwn(WORDS, word) ? WORDS[word] : Number.isNaN(Number(word)) ? undefined : Number(word) >= 1 ? "yes" : "no";
const load = text => {
  const known = byIds(), lines = text.replace(/^\ufeff/, "").split("\n").map(line => line.split("\t").map(field => field.trim())).filter(line => line.length > 2);
  const names = (lines[0] || []).map(name => name.toLowerCase()), column = Math.max(2, names.indexOf("label")), keep = names.indexOf("keep");
  const found = lines.filter(line => line.length > column && tells(line.slice(0, 2)) && known.get(pairOf(line.slice(0, 2)))?.length === 1);
  const said = line => meaning(line[column].toLowerCase() || (line[keep] ? "yes" : ""));
  const odd = found.find(line => said(line) === undefined);
  if (odd) {
    at("kept").textContent = `No marks read: the label \u201c${odd[column]}\u201d of ${odd[0]} and ${odd[1]} says neither yes nor no.`;
    return;
  }
  for (const line of found) {
    const { number } = known.get(pairOf(line.slice(0, 2)))[0], label = said(line);
    if (label) marks.push([number, label]);
    else marks = marks.filter(([other]) => other !== number);  // taken back in a file that is added to
  }
  at("kept").textContent = `${several(found.length, "mark")} read.`;
  remember();
};

let list = [];
const draw = () => {
  list = chosen();
  at("found").textContent = `${count(list.length)} of ${several(rows.length, "pair")}`
    + (rows.length < data.num_pairs ? `, which stand for the ${count(data.num_pairs)} of the run` : "");
  at("rows").replaceChildren(...list.slice(0, state.shown).flatMap((row, place) => [
    ...(state.grouped && row.cluster !== list[place - 1]?.cluster ? [group(row)] : []), line(row), ...(row.number === state.open ? [detail(row)] : []),
  ]));
  at("more").hidden = list.length <= state.shown;
  at("more").textContent = `Show ${count(Math.min(100, list.length - state.shown))} more`;
  document.querySelectorAll(".pairs thead th").forEach(head => {
    head.setAttribute("aria-sort", head.dataset.key !== state.key ? "none" : state.down ? "descending" : "ascending");
  });
};

const group = row => {
  const here = list.filter(other => other.cluster === row.cluster).length;
  return make("tr", { class: "group" }, make("th", { scope: "rowgroup", colspan: seen.length }, "Kept: ", make("bdi", {}, named(row.second.id)), `, ${count(here)} listed`));
};

// whether a document that goes at the chosen threshold, too, goes for another one: its witness of the run is less similar
const moved = row => state.step && row.similarity + 1e-9 < data.thresholds[state.step].threshold && !["chain", "component"].includes(row.measure);
const line = row => {
  const open = row.number === state.open;
  const button = make("button", { type: "button", "aria-expanded": open, "data-row": row.number, dir: "auto" }, named(row.first.id));
  button.addEventListener("click", () => show(open ? null : row.number));
  const names = make("th", { scope: "row" }, button, make("bdi", {}, named(row.second.id)), ...(moved(row) ? [make("span", { class: "note" }, "At this threshold for another one.")] : []), make("bdi", { class: "excerpt less" }, row.excerpt));
  const label = verdicts().get(row.number);
  const cells = [make("td", { class: "number" }, cut(row.similarity)), names];
  if (shown.kind) cells.push(make("td", {}, data.kinds[row.kind], ...(label ? [make("br"), make("strong", {}, LABELS[label])] : [])));
  if (shown.source) cells.push(make("td", { class: "less" }, make("bdi", {}, row.first.source), ...(row.first.source === row.second.source ? [] : [make("br"), make("bdi", {}, row.second.source)])));
  return make("tr", open ? { class: "open" } : {}, ...cells);
};

const show = (number, focus = true) => {
  state.open = number;
  draw();
  const button = number !== null && document.querySelector(`[data-row="${number}"]`);
  if (button && focus) { button.focus({ preventScroll: true }); button.scrollIntoView({ block: "start" }); }
};

// what can be taken out of sight: pairs that share little but a frequent part, and a document that many resemble which do not resemble each other
const apart = () => {
  const partners = new Map(), stands = document => partners.get(document).length;
  const met = (one, other) => partners.set(one, [...(partners.get(one) || []), other]);
  rows.forEach(row => { met(row.a, row.b); met(row.b, row.a); });
  const hubs = [...partners].filter(([, others]) => others.length >= Math.max(MANY, rows.length / 20) && others.every(other => 2 * stands(other) <= others.length));
  return [
    ...data.parts.map(part => {
      const inside = new Set(part.pairs);
      return ["share little but", part.text, `in ${count(part.documents)} documents; `, row => inside.has(row.number)];
    }),
    ...hubs.sort((x, y) => y[1].length - x[1].length).slice(0, 6)
      .map(([document]) => ["have", named(data.documents[document].id), "", row => row.a === document || row.b === document]),
  ];
};

// side by side
const detail = row => {
  const view = row.view, inner = make("td", { colspan: seen.length });
  if (!view) {
    inner.append(make("p", { class: "note" }, data.untold ? `No texts: ${data.untold}.` : "The texts of this pair are not in the report: there is room for some only."));
  } else {
    const both = make("div", { class: "both" });
    const sides = ["a", "b"].map((letter, index) => {
      const name = named((index ? row.second : row.first).id), role = data.of === "dedup" ? `${letter}, which ${index ? "stays" : "goes"}` : letter;
      const text = make("div", { class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": `${letter}: ${name}` });
      text.append(...view[letter].map(piece => printed(piece, index, () => sides)));
      const inside = view[index ? "b_in_a" : "a_in_b"], share = inside < 1 ? Math.min(99.9, 100 * inside).toFixed(1) : 100;
      both.append(make("div", {}, make("p", { class: "side" }, `${role}: `, make("bdi", {}, name)), make("p", { class: "note" }, `${share} % of it is in passages of the other`), text));
      return text;
    });
    const marking = make("p", { class: "judge", role: "group", "aria-label": "Are they near-duplicates?" }, "Are they near-duplicates?");
    for (const [key, label] of Object.entries(KEYS)) {
      const button = make("button", { type: "button", "aria-pressed": verdicts().get(row.number) === label, "aria-keyshortcuts": key }, `${{ yes: "Yes", no: "No", unknown: "Unsure" }[label]} (${key})`);
      button.addEventListener("click", () => judge(row.number, label));
      marking.append(button);
    }
    inner.append(marking, both, make("p", { class: "note" }, "Coloured: passages that both have, click one to see it on both sides. ", make("del", {}, "Dotted"), ": a alone. ", make("ins", {}, "Underlined"), ": b alone."));
  }
  inner.append(make("table", { class: "reasons" }, make("caption", {}, "Step by step"),
    make("tbody", {}, ...(view || row).reasons.map(([asked, answer]) => make("tr", {}, make("th", { scope: "row" }, asked), make("td", {}, answer))))));
  return make("tr", { class: "detail" }, inner);
};

const printed = ([kind, text, passage, left], index, sides) => {
  if (kind === "gap") return make("span", { class: "gap" }, ` [${count(left)} characters more] `);
  if (kind === "alone") return make(index ? "ins" : "del", {}, text);
  if (kind !== "shared") return text;
  const number = Math.abs(passage), mark = make("mark", { class: `p${(number - 1) % 6}`, "data-passage": number });
  if (passage > 0) {
    const jump = make("button", { type: "button", class: "jump", "aria-label": `Passage ${number}: see it on both sides` }, number);
    mark.append(jump);
  }
  mark.append(text);
  mark.addEventListener("click", event => {
    const jumped = event.target.closest("button");
    sides().forEach((side, other) => {
      side.querySelectorAll(".met").forEach(one => one.classList.remove("met"));
      const all = side.querySelectorAll(`[data-passage="${number}"]`);
      all.forEach(one => one.classList.add("met"));
      if (all.length) side.scrollTop = all[0].offsetTop - 40;
      if (jumped && other !== index && all.length) (all[0].querySelector("button") || side).focus({ preventScroll: true });
    });
  });
  return mark;
};

// the threshold: what would have been decided, counted beforehand
const decided = () => {
  const one = data.thresholds[state.step], now = data.thresholds[0], out = at("decided");
  const strong = text => make("strong", {}, text);
  const fewer = now.count - one.count;
  const change = state.step === 0 ? "as in this run" : fewer >= 0 ? `${count(fewer)} fewer than now` : `${count(-fewer)} more than now`;
  const more = one.kept === null ? [] : [", ", strong(count(one.kept)), " stay, ", strong(count(one.clusters)), " clusters"];
  out.replaceChildren(`At ${+cut(one.threshold)}: `, strong(count(one.count)), data.of === "dedup" ? " go" : " pairs", ...more, ` (${change}).`);
  at("threshold").setAttribute("aria-valuetext", `${+cut(one.threshold)}`);
  document.querySelectorAll(".bar:not(.sampled)").forEach(bar => bar.classList.toggle("off", +bar.dataset.step < state.step));
};

if (rows.length) {
  document.querySelector(".pairs thead tr").append(...seen.map(([key, name], index) => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => { state.down = state.key === key && !state.down; state.key = key; draw(); });
    return make("th", { scope: "col", "data-key": key, class: index === 0 ? "number" : key === "source" ? "less" : null }, button);
  }));
  for (const [kind, name] of shown.kind ? Object.entries(data.kinds) : []) {
    const number = rows.filter(row => row.kind === kind).length;
    if (!number) continue;
    const isOff = kind === "unread" && data.beside.length;  // nothing to see of them but their ids
    const box = make("input", { type: "checkbox", checked: isOff ? null : "" });
    if (isOff) state.hidden.add(kind);
    box.addEventListener("change", () => { state.hidden[box.checked ? "delete" : "add"](kind); draw(); });
    at("kinds").append(make("label", {}, box, ` ${name} (${count(number)})`));
  }
  for (const [what, name, where, has] of apart()) {
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => { state.apart[box.checked ? "add" : "delete"](has); draw(); });
    at("apart").append(make("label", {}, box, ` ${what} \u201c`, make("bdi", {}, name), `\u201d (${where}${several(rows.filter(has).length, "pair")})`));
    at("apart").hidden = false;
  }
  at("query").addEventListener("input", () => { state.shown = FIRST; draw(); });
  if (at("grouped")) at("grouped").addEventListener("change", event => { state.grouped = event.target.checked; draw(); });
  at("more").addEventListener("click", () => { state.shown += 100; draw(); });
  if (at("threshold")) {
    const { parentElement: { style }, dataset } = at("threshold");  // below the bars that it moves
    for (const end of ["from", "to"]) style.setProperty(`--${end}`, `${dataset[end]}%`);
    at("threshold").addEventListener("input", event => { state.step = +event.target.value; decided(); draw(); judged(); });
    decided();
  }
  document.querySelectorAll("[data-cluster]").forEach(link => link.addEventListener("click", () => {
    at("query").value = `cluster:${link.dataset.cluster}`;
    draw();
  }));
  document.addEventListener("keydown", event => {
    if (event.target.matches("[type=search]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { j: 1, k: -1 }[event.key], open = rows[state.open];
    if (event.key === "z") undo();
    if (KEYS[event.key] && open && open.view) judge(open.number, KEYS[event.key]);
    if (!way) return;
    const place = list.findIndex(row => row.number === state.open) + way;
    const next = list[Math.max(0, Math.min(list.length - 1, place))];
    if (next) { state.shown = Math.max(state.shown, place + 1); show(next.number); }
  });
  if (at("judging")) {
    at("undo").addEventListener("click", undo);
    at("save").addEventListener("click", save);
    at("load").addEventListener("change", async event => { if (event.target.files[0]) load(await event.target.files[0].text()); event.target.value = ""; });
  }
  draw();
  judged();
}
})();
