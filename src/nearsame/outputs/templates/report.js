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
const FIRST = 25;
const cut = value => (Math.floor(value * 10000 + 1e-7) / 10000).toFixed(4);
const count = number => number.toLocaleString("en");
const state = { step: 0, key: "similarity", down: false, shown: FIRST, open: null, hidden: new Set() };

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
const several = new Set(data.documents.map(one => one.source)).size > 1;
const seen = several ? columns : columns.slice(0, 3);

const chosen = () => {
  const wanted = terms(at("query").value), value = columns.find(column => column[0] === state.key)[2];
  const way = state.down ? -1 : 1;
  return rows
    .filter(row => !state.hidden.has(row.kind) && (!data.thresholds.length || row.at >> state.step & 1) && wanted.every(holds => holds(row)))
    .sort((x, y) => { const a = value(x), b = value(y); return a < b ? -way : a > b ? way : x.number - y.number; });
};

let list = [];
const draw = () => {
  list = chosen();
  at("found").textContent = `${count(list.length)} of ${count(rows.length)} pairs`
    + (rows.length < data.num_pairs ? `, which stand for the ${count(data.num_pairs)} of the run` : "");
  at("rows").replaceChildren(...list.slice(0, state.shown).flatMap(row => row.number === state.open ? [line(row), detail(row)] : [line(row)]));
  at("more").hidden = list.length <= state.shown;
  at("more").textContent = `Show ${count(Math.min(100, list.length - state.shown))} more`;
  document.querySelectorAll(".pairs thead th").forEach(head => {
    head.setAttribute("aria-sort", head.dataset.key !== state.key ? "none" : state.down ? "descending" : "ascending");
  });
};

const line = row => {
  const open = row.number === state.open;
  const button = make("button", { type: "button", "aria-expanded": open, "data-row": row.number, dir: "auto" }, row.first.id);
  button.addEventListener("click", () => show(open ? null : row.number));
  const names = make("th", { scope: "row" }, button, make("br"), make("bdi", {}, row.second.id), make("bdi", { class: "excerpt less" }, row.excerpt));
  const cells = [make("td", { class: "number" }, cut(row.similarity)), names, make("td", {}, data.kinds[row.kind])];
  if (several) cells.push(make("td", { class: "less" }, make("bdi", {}, row.first.source), ...(row.first.source === row.second.source ? [] : [make("br"), make("bdi", {}, row.second.source)])));
  return make("tr", open ? { class: "open" } : {}, ...cells);
};

const show = (number, focus = true) => {
  state.open = number;
  draw();
  const button = number !== null && document.querySelector(`[data-row="${number}"]`);
  if (button && focus) { button.focus({ preventScroll: true }); button.scrollIntoView({ block: "start" }); }
};

// side by side
const detail = row => {
  const inner = make("td", { colspan: seen.length });
  const view = row.view;
  if (!view) {
    inner.append(make("p", { class: "note" }, data.untold ? `No texts: ${data.untold}.` : "The texts of this pair are not in the report: there is room for some only."));
  } else {
    const both = make("div", { class: "both" });
    const sides = ["a", "b"].map((letter, index) => {
      const name = (index ? row.second : row.first).id, role = data.of === "dedup" ? (index ? "stays" : "goes") : letter;
      const text = make("div", { class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": `${letter}: ${name}` });
      text.append(...view[letter].map(piece => printed(piece, index, () => sides)));
      const share = Math.floor(1000 * view[index ? "b_in_a" : "a_in_b"]) / 10;
      both.append(make("div", {}, make("p", { class: "side" }, `${role}: `, make("bdi", {}, name)), make("p", { class: "note" }, `${share} % of it is in passages of the other`), text));
      return text;
    });
    inner.append(both, make("p", { class: "note" }, "Coloured: passages that both have, click one to see it on both sides. ", make("del", {}, "Dotted"), ": a alone. ", make("ins", {}, "Underlined"), ": b alone."),
      make("table", { class: "reasons" }, make("caption", {}, "Step by step"),
        make("tbody", {}, ...view.reasons.map(([asked, answer]) => make("tr", {}, make("th", { scope: "row" }, asked), make("td", {}, answer))))));
  }
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
  out.replaceChildren(`At ${+one.threshold.toFixed(4)}: `, strong(count(one.count)), data.of === "dedup" ? " go" : " pairs", ...more, ` (${change}).`);
  at("threshold").setAttribute("aria-valuetext", `${+one.threshold.toFixed(4)}`);
  document.querySelectorAll(".bar").forEach(bar => bar.classList.toggle("off", +bar.dataset.step < state.step));
};

if (rows.length) {
  document.querySelector(".pairs thead tr").append(...seen.map(([key, name], index) => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => { state.down = state.key === key && !state.down; state.key = key; draw(); });
    return make("th", { scope: "col", "data-key": key, class: index === 0 ? "number" : index === 3 ? "less" : null }, button);
  }));
  for (const [kind, name] of Object.entries(data.kinds)) {
    const number = rows.filter(row => row.kind === kind).length;
    if (!number) continue;
    const box = make("input", { type: "checkbox", checked: "" });
    box.addEventListener("change", () => { state.hidden[box.checked ? "delete" : "add"](kind); draw(); });
    at("kinds").append(make("label", {}, box, ` ${name} (${count(number)})`));
  }
  at("query").addEventListener("input", () => { state.shown = FIRST; draw(); });
  at("more").addEventListener("click", () => { state.shown += 100; draw(); });
  if (at("threshold")) {
    at("threshold").addEventListener("input", event => { state.step = +event.target.value; decided(); draw(); });
    decided();
  }
  document.querySelectorAll("[data-cluster]").forEach(link => link.addEventListener("click", () => {
    at("query").value = `cluster:${link.dataset.cluster}`;
    draw();
  }));
  document.addEventListener("keydown", event => {
    if (event.target.matches("input, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { j: 1, k: -1 }[event.key];
    if (!way) return;
    const place = list.findIndex(row => row.number === state.open) + way;
    const next = list[Math.max(0, Math.min(list.length - 1, place))];
    if (next) { state.shown = Math.max(state.shown, place + 1); show(next.number); }
  });
  draw();
}
})();
