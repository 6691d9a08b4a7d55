"use strict";
// Without this script the page still shows everything, but its tables cannot be sorted.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.classList.contains("number");
      const order = head.getAttribute("aria-sort") === (down ? "descending" : "ascending") ? !down : down;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order ? "descending" : "ascending");
      for (const body of table.tBodies) sort(body, place, order ? -1 : 1);
    });
  });
}

// Rows are sorted within their group. Empty entries come last in both directions.
function sort(body, place, sign) {
  const key = (row) => {
    const cell = row.cells[place];
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const compare = (one, other) => {
    const [first, second] = [key(one), key(other)];
    if (first === "" || second === "") return (first === "") - (second === "");
    if (typeof first === "number" && typeof second === "number") return sign * (first - second);
    return sign * String(first).localeCompare(String(second), "en", { numeric: true });
  };
  const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
  body.append(...rows.sort(compare));
}

// A table that is wider than the screen says so.
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) target.classList.toggle("wide", target.scrollWidth > target.clientWidth + 1);
});
for (const box of document.querySelectorAll(".scroll:has(> table)")) widths.observe(box);

// The contents stand beside the text on a wide screen, and are folded above it on a narrow one.
const contents = document.querySelector("nav details");
const wide = matchMedia("(min-width: 75rem)");
contents.open = wide.matches;
wide.addEventListener("change", () => (contents.open = wide.matches));
