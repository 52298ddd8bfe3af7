/* What moves in a report, first part: what the address keeps, what the pointer says, tables that sort. Every figure
   shown is one of the page's data; nothing is interpolated and nothing is loaded. The parts follow each other as one
   script: page.js, runs.js, charts.js, start.js. */
"use strict";
const $ = (id) => document.getElementById(id);
const el = (name, set = {}, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(set)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
};
const draw = (parent, name, set = {}, text = "") => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(set)) made.setAttribute(key, value);
    made.textContent = text;
    parent.append(made);
    return made;
};
/* Three digits, and no fraction from 1000 on. */
const short = (value) => value === 0 ? "0" : Math.abs(value) >= 1000 ? String(Math.round(value)) :
    Math.abs(value) >= .001 ? String(Number(value.toPrecision(3))) : value.toExponential(2);
const color = (index) => `var(--series${index % 12})`;

/* ---- the address ---- */

const state = new URLSearchParams(location.hash.slice(1));
const keep = (key, value) => {
    if (value === null || value === "") state.delete(key);
    else state.set(key, value);
    history.replaceState(null, "", "#" + state);
};

/* ---- what the pointer or the keyboard is on ---- */

const tip = $("tip");
const say = (text, x, y) => {
    if (!tip) return;
    tip.hidden = text === "";
    tip.textContent = text;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - width - 8)) + "px";
    tip.style.top = Math.max(4, y + 16 + height > innerHeight ? y - height - 8 : y + 16) + "px";
};
const hush = () => say("", 0, 0);
const said = (node, text) => {
    node.addEventListener("pointermove", (event) => say(text(), event.clientX, event.clientY));
    node.addEventListener("pointerleave", hush);
};
for (const moved of ["wheel", "touchmove"]) addEventListener(moved, hush, { passive: true });

/* ---- tables ---- */

const cellKey = (row, column) => {
    const cell = row.cells[column],
        text = cell ? cell.dataset.value ?? cell.textContent : "";
    const number = parseFloat(text.replace("−", "-"));
    return Number.isNaN(number) ? text : number;
};
const before = (a, b) => a === "" || b === "" ? (a === "") - (b === "") :
    typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
const sortBy = (table, column, down) => {
    const body = table.tBodies[0],
        sign = down ? -1 : 1;
    const rows = [...body.rows].map((row) => [cellKey(row, column), row]);
    rows.sort(([a], [b]) => a === "" || b === "" ? before(a, b) : sign * before(a, b));
    body.append(...rows.map(([, row]) => row));
    [...table.tHead.rows[0].cells].forEach((head, i) =>
        i === column ? head.setAttribute("aria-sort", down ? "descending" : "ascending") :
        head.removeAttribute("aria-sort"));
};
const sortable = (table) => {
    [...table.tHead?.rows[0]?.cells ?? []].forEach((head, column) => {
        const button = el("button", { type: "button", class: "sort" }, head
        .textContent);
        button.addEventListener("click", () => {
            const down = head.getAttribute("aria-sort") === (head.classList
                .contains("number") ? null : "ascending");
            sortBy(table, column, down);
            if (table.id) keep("sort", `${column}${down ? "-" : "+"}`);
        });
        head.replaceChildren(button);
    });
};
document.querySelectorAll("main table").forEach((table) => table.tHead?.rows.length && sortable(
    table));
