/* The start of all: sliders, limits, and what they show. */
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
    standAt(axes.findIndex(({ name }) => state.has(name)));
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth;
            show(); } });
};
start();
