/* Time lines of steps, as `spillway timeline` writes them, and the start of all. */
/* ---- the time line of a step ---- */

const steps = [...document.querySelectorAll("script[data-step]")].map((node) => ({ name: node
        .dataset.step, events: JSON.parse(node.textContent).traceEvents }));
let zoom = [0, 1],
    step = null;
const takeStep = () => {
    step = steps.find(({ name }) => name === $("step").value) ?? steps[0];
    step.lanes ??= step.events.filter(({ name }) => name === "thread_name").map(({ tid,
            args }) => ({ tid, name: args.name }));
    step.tasks ??= step.events.filter(({ ph }) => ph === "X");
    step.end ??= Math.max(...step.tasks.map(({ ts, dur }) => ts + dur));
    step.kinds ??= [...new Set(step.tasks.map(({ cat }) => cat))];
};
const showStep = () => {
    const svg = $("steps").querySelector("svg"),
        width = Math.max(280, svg.clientWidth || 600),
        row = 40,
        bottom = 22;
    const [from, to] = zoom.map((share) => share * step.end), height = row * step.lanes.length +
        bottom;
    const along = (time) => (time - from) * width / (to - from);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    for (const at of ticks(from, to)) {
        draw(svg, "line", { x1: along(at), x2: along(at), y1: 0, y2: height - bottom,
            class: "rule" });
        draw(svg, "text", { x: Math.min(along(at) + 2, width - 56), y: height - 6 },
            `${short(at / 1e3)} ms`);
    }
    step.lanes.forEach(({ tid, name }, lane) => {
        draw(svg, "text", { x: 2, y: row * lane + 13 }, name);
        let drawn = -1;
        for (const task of step.tasks) {
            const x = along(task.ts),
                end = along(task.ts + task.dur);
            if (task.tid !== tid || end < 0 || x > width || end < drawn + .4) continue;
            drawn = Math.max(end, x + .6);
            const bar = draw(svg, "rect", { x, y: row * lane + 17, width: Math.max(.6,
                    end - x), height: 18, fill: color(step.kinds.indexOf(task
                    .cat)), class: "bar" });
            const kind = task.cat ? ` (${task.cat})` : "";
            const when = `from ${short(task.ts / 1e3)} ms, takes ${short(task.dur / 1e3)} ms`;
            said(bar, () => `${name}: ${task.name}${kind}\n${when}`);
        }
    });
};
const zoomTo = (from, to) => {
    const wide = Math.min(1, Math.max(to - from, 1e-4)),
        start = Math.min(1 - wide, Math.max(0, from));
    zoom = [start, start + wide];
    keep("step", wide === 1 ? null : `${start.toFixed(5)},${(start + wide).toFixed(5)}`);
    showStep();
};
const zoomBy = (what) => {
    const [from, to] = zoom, wide = to - from;
    ({
        in: () => zoomTo(from + wide / 4, to - wide / 4),
        out: () => zoomTo(from - wide / 2, to + wide / 2),
        left: () => zoomTo(from - wide / 4, to - wide / 4),
        right: () => zoomTo(from + wide / 4, to + wide / 4),
        all: () => zoomTo(0, 1)
    })[what]();
};
const startSteps = () => {
    const figure = $("steps"),
        svg = figure.querySelector("svg"),
        keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right",
            0: "all" };
    if (steps.length === 0) return;
    figure.hidden = false;
    $("step").append(...steps.map(({ name }) => el("option", { value: name }, name)));
    if (state.has("run")) $("step").value = state.get("run");
    takeStep();
    const kept = state.get("step")?.split(",").map(Number);
    if (kept?.length === 2 && kept[0] >= 0 && kept[1] <= 1 && kept[0] < kept[1]) zoom = kept;
    $("step").addEventListener("change", () => { keep("run", $("step").value);
        takeStep();
        showStep(); });
    figure.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click",
        () => zoomBy(button.dataset.zoom)));
    svg.addEventListener("keydown", (event) => { if (keys[event.key]) { event.preventDefault();
            zoomBy(keys[event.key]); } });
    const share = (event) => { const box = svg.getBoundingClientRect(); return zoom[0] + (zoom[
            1] - zoom[0]) * (event.clientX - box.left) / box.width; };
    let began = null;
    svg.addEventListener("pointerdown", (event) => { began = share(event); });
    addEventListener("pointerup", (event) => {
        if (began === null) return;
        const end = share(event),
            from = began;
        began = null;
        if (Math.abs(end - from) > (zoom[1] - zoom[0]) / 50) zoomTo(Math.min(from, end),
            Math.max(from, end));
    });
};

/* ---- together ---- */

const show = () => { showRuns();
    showCurve();
    showParts(); };
const knobs = [];
const standAt = (fixed) => {
    settle(fixed);
    axes.forEach((axis, i) => {
        const [text] = axis.values[here[i]];
        if (knobs[i].input.type === "range") { knobs[i].input.value = here[i];
            knobs[i].input.setAttribute("aria-valuetext", text);
            knobs[i].output.textContent = text; } else knobs[i].input.value = String(
            here[i]);
        keep(axis.name, text);
    });
    show();
};
const goTo = (run) => { run.at.forEach((at, i) => { if (at !== null) here[i] = at; });
    hush();
    standAt(-1); };
const startAxes = () => axes.forEach((axis, i) => {
    const slides = axis.numbers || axis.name === "hardware.link",
        output = el("output"),
        input = slides ?
        el("input", { type: "range", min: 0, max: axis.values.length - 1,
        step: 1, "aria-label": axis.name }) :
        el("select", { "aria-label": axis.name }, ...axis.values.map(([text], at) => el(
            "option", { value: at }, text)));
    const label = el("label", {}, el("span", {}, axis.name), input, ...slides ? [output] : []);
    if (!decided[i]) $("axes").append(label);
    knobs.push({ input, output });
    input.addEventListener("input", () => { here[i] = Number(input.value);
        standAt(i); });
});
const startLimits = () => goals.forEach((goal) => {
    const input = el("input", { type: "number", min: 0, step: "any", "data-limit": goal
            .key });
    input.value = limitText(goal);
    input.addEventListener("input", () => { keepLimit(goal, input.value); if ($(
                "all").open) showAll();
        show(); });
    $("limits").append(el("label", {},
        `${named(goal)} ${goal.better > 0 ? "at least" : "at most"} `, input));
});
const showAll = () => {
    const table = $("all").querySelector("table");
    if (table.tHead.rows.length === 0) { table.tHead.append(headOf(axes.map(({ name }) =>
            name)));
        sortable(table); }
    table.tBodies[0].replaceChildren(...runs.map((run) => rowOf(run, false, axes.map((axis,
        i) => {
            const value = run.at[i] === null ? ["", null] : axis.values[run.at[
                    i]],
                cell = el("td", {}, value[0]);
            if (value[1] !== null) cell.dataset.value = value[1];
            return cell;
        }))));
};
const start = () => {
    if (measures.length === 0 || runs.length === 0) return;
    $("explore").hidden = false;
    startAxes();
    startLimits();
    $("measure").append(...measures.map((measure) => el("option", { value: measure.key }, named(
        measure))));
    $("over").append(...axes.map((axis, i) => el("option", { value: i }, axis.name))
        .filter((option, i) => !decided[i]));
    if (measures.some(({ key }) => key === state.get("show"))) $("measure").value = state.get(
        "show");
    const walked = axes.findIndex(({ name }) => name === state.get("over")),
        free = axes.filter((axis, i) => !decided[i]),
        most = Math.max(...free.map(({ values }) => values.length));
    $("over").value = String(walked >= 0 ? walked :
        axes.indexOf(free.find(({ values }) => values.length === most)));
    $("measure").addEventListener("change", () => { keep("show", $("measure").value);
        show(); });
    $("over").addEventListener("change", () => { keep("over", axes[$("over").value].name);
        show(); });
    $("here").tHead.append(headOf([]));
    sortable($("here"));
    $("curve").hidden = axes.length === 0;
    $("curve").querySelector("svg").addEventListener("keydown", (event) => {
        const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 } [event
            .key];
        if (by) { event.preventDefault();
            walk(by); }
        if (event.key === "Enter" && walkAt >= 0) goTo(walked[walkAt].run);
        if (event.key === "Escape") hush();
    });
    $("all").addEventListener("toggle", () => $("all").open && showAll());
    startSteps();
    standAt(axes.findIndex(({ name }) => state.has(name)));
    let width = innerWidth;
    if (steps.length > 0) showStep();
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth;
            show(); if (steps.length > 0) showStep(); } });
};
start();
