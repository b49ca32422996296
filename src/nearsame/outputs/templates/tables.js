"use strict";
(() => {
const slider = document.getElementById("threshold");

// cells and bars that were counted at each threshold: `data-at` has all numbers, `data-of` what they are parts of;
// those of a map are shaded by the largest of its numbers, `data-most`, and empty where nothing is left
const follow = () => document.querySelectorAll("[data-at]").forEach(one => {
  const { at, of, most } = one.dataset, value = +at.split(" ")[slider.value];
  if (one.tagName === "rect") one.setAttribute("width", 100 * value / of);
  else if (most) {
    one.className = value ? `h${Math.min(4, 1 + Math.round(3 * value / most))}` : "";
    one.textContent = value ? value.toLocaleString("en") : "";
  } else one.textContent = value.toLocaleString("en") + (of ? ` (${Math.min(value < of ? 99 : 100, Math.round(100 * value / of))} %)` : "");
});
if (slider) slider.addEventListener("input", follow);

// tables that are sorted by any column that has a name of its own
const worth = cell => cell.classList.contains("number") ? parseFloat(cell.textContent.replaceAll(",", "")) : cell.textContent;
const compared = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b);
const sort = (table, column, way) => {
  const rows = [...table.tBodies[0].rows];
  table.tBodies[0].append(...rows.sort((x, y) => way * compared(worth(x.cells[column]), worth(y.cells[column]))));
};
document.querySelectorAll("table.sorts").forEach(table => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.classList.contains("bar-of")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.ariaSort === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.ariaSort = down ? "descending" : "ascending";
      sort(table, column, down ? -1 : 1);
    });
  });
});
})();
