/* Charts of the runs: a figure over an axis, and the parts of the step. */
/* ---- axes of charts ---- */

const ticks = (low, high) => {
    const step = 10 ** Math.floor(Math.log10((high - low) / 4 || 1)),
        wide = [1, 2, 5, 10].find((by) => (high - low) / (step * by) <= 5) * step;
    const all = [];
    for (let at = Math.ceil(low / wide) * wide; at <= high * (1 + 1e-9); at += wide) all.push(
        Number(at.toPrecision(12)));
    return all;
};
const marks = [(x, y) => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0-8 0`, (x, y) =>
    `M${x - 4} ${y - 4}h8v8h-8z`,
    (x, y) => `M${x} ${y - 5}l5 9h-10z`, (x, y) => `M${x} ${y - 5}l5 5l-5 5l-5-5z`];
const markOf = (index, x, y) => marks[Math.floor(index / 2) % marks.length](x, y);
const legend = (box, items) => box.replaceChildren(...items.map(([name, index, mark]) => {
    const item = el("span"),
        svg = draw(item, "svg", { width: 14, height: 14, "aria-hidden": "true" });
    draw(svg, "path", { d: mark ? markOf(index, 7, 7) : "M1 1h12v12h-12z", fill: color(
            index) });
    item.append(" " + name);
    return item;
}));

/* ---- the chart ---- */

let walked = [],
    walkAt = -1;
const showCurve = () => {
    const measure = chosen(),
        axis = Number($("over").value),
        svg = $("curve").querySelector("svg");
    const width = Math.max(280, svg.clientWidth || 600),
        height = 300,
        left = 56,
        right = 14,
        top = 12,
        bottom = 40;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    walked = [];
    const lines = systems.map((system, index) => ({
            system,
            index,
            runs: runs.filter((run) =>
                run.system === system && run.at[axis] !== null && stands(run, here,
                    axis) && has(run, measure)).sort((a, b) => a.at[axis] - b.at[
                axis])
        }))
        .filter((line) => line.runs.length > 0);
    const alone = lines.every((line) => line.runs.length < 2); /* a dot says no more than the table */
    for (const part of $("curve").querySelectorAll("svg, .legend, figcaption")) part.style.display =
        alone ? "none" : "";
    if (alone || axes.length === 0) return;
    const values = axes[axis].values,
        numbers = axes[axis].numbers && values.every(([, x]) => typeof x === "number");
    const spread = numbers ? values.map(([, x]) => x) : values.map((_, i) => i);
    const logs = numbers && spread[0] > 0 && spread.at(-1) / spread[0] > 8;
    const along = (i) => { const f = logs ? Math.log : Number,
            a = f(spread[0]),
            b = f(spread.at(-1)); return left + 10 + (width - left - right - 20) * (b > a ?
            (f(spread[i]) - a) / (b - a) : .5); };
    const most = Math.max(0, ...lines.flatMap((line) => line.runs.map((run) => shown(run,
        measure)))) || 1;
    const up = (value) => height - bottom - (height - top - bottom) * value / (most * 1.04);
    for (const at of ticks(0, most)) {
        draw(svg, "line", { x1: left, x2: width - right, y1: up(at), y2: up(at),
            class: "rule" });
        draw(svg, "text", { x: left - 6, y: up(at) + 4, "text-anchor": "end" }, short(at));
    }
    let last = -1e3;
    values.forEach(([text], i) => {
        const half = text.length * 3.4;
        if (along(i) - half < last) return;
        draw(svg, "text", { x: Math.max(left, Math.min(along(i), width - half)),
            y: height - bottom + 16, "text-anchor": "middle" }, text);
        last = along(i) + half + 6;
    });
    draw(svg, "line", { x1: along(here[axis]), x2: along(here[axis]), y1: top, y2: height -
            bottom, class: "stand" });
    draw(svg, "text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" },
        axes[axis].name);
    const limit = limitOf(measure);
    if (limit <= most * 1.04) draw(svg, "line", { x1: left, x2: width - right, y1: up(limit),
        y2: up(limit), class: "limit" });
    for (const { index, runs: points } of lines) {
        const at = points.map((run) => [along(run.at[axis]), up(shown(run, measure))]);
        draw(svg, "polyline", { points: at.join(" "), class: "guide", stroke: color(index) });
        points.forEach((run, i) => {
            const mark = draw(svg, "path", { d: markOf(index, ...at[i]), fill: color(
                    index), class: misses(run).length ? "fails" :
                "", "data-run": run.run });
            const figures = () => measures.filter((one) => (one.better || one === measure) && has(run, one))
                .map((one) => `${named(one)} ${short(shown(run, one))}`).join("\n");
            const text = () => `${run.system}, ${place(run)}\n${figures()}`;
            walked.push({ run, index, x: at[i][0], y: at[i][1], text, mark });
            said(mark, text);
            mark.addEventListener("click", () => goTo(run));
        });
    }
    walkAt = -1;
    svg.setAttribute("aria-label",
        `${named(measure)} over ${axes[axis].name}: arrow keys walk along its points, Enter goes there`
        );
    legend($("curve").querySelector(".legend"), lines.map(({ system, index }) => [system, index,
        true]));
};
const walk = (by) => {
    if (walked.length === 0) return;
    walkAt = (walkAt + by + walked.length) % walked.length;
    const { x, y, text, mark } = walked[walkAt], svg = $("curve").querySelector("svg"), box =
        svg.getBoundingClientRect();
    walked.forEach((other) => other.mark.classList.toggle("walked", other.mark === mark));
    say(text(), box.left + x * box.width / svg.viewBox.baseVal.width, box.top + y * box.height /
        svg.viewBox.baseVal.height);
};

/* ---- the step's parts ---- */

const partNames = [...new Set(runs.flatMap(({ parts }) => Object.keys(parts).filter((name) => parts[
    name] > 0)))];
const showParts = () => {
    const some = runs.filter((run) => stands(run, here) && Object.keys(run.parts).length > 0);
    const figure = $("parts"),
        svg = figure.querySelector("svg"),
        row = 44;
    figure.hidden = some.length === 0;
    if (figure.hidden) return;
    const width = Math.max(280, svg.clientWidth || 600),
        sums = some.map((run) => Object.values(run.parts).reduce((a, b) => a + b, 0)),
        most = Math.max(...sums);
    svg.setAttribute("viewBox", `0 0 ${width} ${row * some.length}`);
    svg.replaceChildren();
    some.forEach((run, i) => {
        let at = 0;
        draw(svg, "text", { x: 0, y: row * i + 14 },
            `${run.system}: ${short(sums[i] / 1e3)} ms`);
        partNames.forEach((name, index) => {
            const part = run.parts[name] ?? 0;
            if (part === 0) return;
            const bar = draw(svg, "rect", { x: at * width / most, y: row * i +
                    19, width: part * width / most, height: 18,
                fill: color(index), class: "bar" });
            at += part;
            said(bar, () =>
                `${run.system}, ${name}\n${short(part / 1e3)} ms, ${short(100 * part / sums[i])} % of the step`
                );
        });
    });
    legend(figure.querySelector(".legend"), partNames.map((name, index) => [name, index,
        false]));
};
