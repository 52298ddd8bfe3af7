/* The runs of explore.sql: where the sliders stand, limits, and tables of the runs there. */
/* ---- the runs ---- */

const source = $("data");
const data = source ? JSON.parse(source.textContent) : { axes: [], measures: [], runs: [] };
const axes = data.axes;
const measures = data.measures.map(([key, title, unit, scale, better], place) => ({ key, title,
        unit, scale, better, place }))
    .filter(({ place }) => data.runs.some((run) => run[5][place] !== null));
/* Tables have the main measures; the chart has any. */
const main = measures.filter(({ better }) => better !== 0);
const runs = data.runs.map(([run, system, status, why, at, values, parts]) =>
    ({ run, system, status, why, at: axes.map((axis, i) => at[i] ?? null), values, parts }));
const systems = [...new Set(runs.map(({ system }) => system))];
const named = (measure) => measure.unit && !measure.title.includes(measure.unit) ?
    `${measure.title} (${measure.unit})` : measure.title;
const shown = (run, measure) => run.values[measure.place] / measure.scale;
const has = (run, measure) => run.values[measure.place] !== null;

/* Targets of a plan, such as "tpot_p99_ms<=50ms", are limits until the reader changes them. */
const sizes = { us: .001, ms: 1, s: 1000 };
const targets = Object.fromEntries([...(data.targets ?? source?.dataset.targets ?? "")
    .matchAll(/(\w+)[<>]=([\d.]+)(us|ms|s)?/g)]
    .map(([, key, value, unit]) => [key, String(value * (sizes[unit] ?? 1))]));
const goals = main.filter(({ key }) => key in targets || ["decode_tokens_per_s", "step_us", "tpot_p99_ms",
    "ttft_p99_ms", "goodput", "mass_recall", "cost_per_million_tokens"].includes(key));

/* An axis that another one decides, as a machine decides its price, needs no slider of its own. Of two that decide each
   other, the one with names stays. */
const follows = (axis, other) => {
    const seen = new Map(runs.map(({ at }) => [at[other], at[axis]]));
    return runs.every(({ at }) => seen.get(at[other]) === at[axis]);
};
const decided = axes.map((axis, i) => axes.some((other, j) => j !== i && follows(i, j) &&
    (!follows(j, i) || other.numbers < axis.numbers || (other.numbers === axis.numbers && j < i))));

/* Where the sliders stand. A run without a key stands at every value of it. */
const first = runs.find(({ run }) => run === source?.dataset.run) ?? runs[0];
const here = axes.map((axis, i) => {
    const kept = axis.values.findIndex(([text]) => text === state.get(axis.name));
    return kept >= 0 ? kept : first?.at[i] ?? 0;
});
const stands = (run, at, except = -1) => run.at.every((place, i) => i === except || place ===
    null || place === at[i]);
const distance = (run, at) => run.at.reduce((sum, place, i) => sum + (place === null || place ===
    at[i] ? 0 : 1 + Math.abs(place - at[i]) / 1e3), 0);
/* To the nearest computed point, if none is here. `fixed`: the axis that the reader moved. */
const settle = (fixed) => {
    if (runs.some((run) => stands(run, here))) return;
    const others = runs.filter((run) => fixed === -1 || run.at[fixed] === here[fixed]);
    const near = others.reduce((a, b) => a && distance(a, here) <= distance(b, here) ? a : b,
        null);
    near?.at.forEach((place, i) => { if (place !== null) here[i] = place; });
};
const place = (run) => axes.map((axis, i) => run.at[i] === null ? "" :
    `${axis.name} ${axis.values[run.at[i]][0]}`).filter(Boolean).join(", ");

/* ---- limits ---- */

const limitText = ({ key }) => state.get(`limit.${key}`) ?? targets[key] ?? "";
const limitOf = (measure) => parseFloat(limitText(measure));
/* A target that is taken away stays away: "none" is no number. */
const keepLimit = ({ key }, text) => keep(`limit.${key}`, text === "" && key in targets ? "none" : text);
const misses = (run) => run.status !== "ok" ? [run.status] : goals.filter((goal) => {
    const limit = limitOf(goal);
    return !Number.isNaN(limit) && !(has(run, goal) && goal.better * shown(run, goal) >=
        goal.better * limit);
}).map(({ title }) => title);
const anyLimit = () => goals.some((goal) => !Number.isNaN(limitOf(goal)));

/* ---- what is shown ---- */

const cellOf = (run, measure) => {
    const cell = el("td", { class: "number" });
    if (has(run, measure)) {
        cell.textContent = short(shown(run, measure));
        cell.dataset.value = cell.title = run.values[measure.place];
        cell.dataset.key = measure.key;
    }
    return cell;
};
const rowOf = (run, mark, cells) => {
    const missed = misses(run),
        row = el("tr", { "data-run": run.run });
    const verdict = run.status !== "ok" ? run.status : !anyLimit() ? "" : missed.length ?
        `fails: ${missed.join(", ")}` : "passes";
    if (mark) row.classList.add(missed.length ? "fails" : anyLimit() ? "passes" : "open");
    row.append(el("td", {}, run.system), ...cells, el("td", { title: run.why ?? "" }, verdict),
        ...main.map((measure) => cellOf(run, measure)));
    return row;
};
const headOf = (names) => {
    const row = el("tr");
    row.append(el("th", { scope: "col" }, "system"), ...names.map((name) => el(
        "th", { scope: "col" }, name)),
        el("th", { scope: "col" }, "verdict"), ...main.map((measure) => el(
        "th", { scope: "col", class: "number" }, named(measure))));
    return row;
};
const best = (some, measure) => some.filter((run) => has(run, measure))
    .reduce((a, b) => a && measure.better * a.values[measure.place] >= measure.better * b.values[
        measure.place] ? a : b, null);
const chosen = () => measures.find(({ key }) => key === $("measure").value) ?? measures[0];

const showRuns = () => {
    const some = runs.filter((run) => stands(run, here)),
        table = $("here");
    table.tBodies[0].replaceChildren(...some.map((run) => rowOf(run, true, [])));
    const sort = state.get("sort")?.match(/^(\d+)([+-])$/);
    if (sort && Number(sort[1]) < table.tHead.rows[0].cells.length) sortBy(table, Number(sort[
        1]), sort[2] === "-");
    const measure = chosen(),
        passing = some.filter((run) => misses(run).length === 0),
        leader = measure?.better && best(passing, measure);
    const count = anyLimit() ? `${passing.length} of ${some.length} ${some.length === 1 ? "run passes" :
        "runs pass"}. ` : "";
    const which = some.length === 1 ? "Here" : anyLimit() ? "Best of them" : "Best here";
    const what = (of) => of.title === of.unit ? of.unit : `${of.unit} ${of.title}`;
    $("verdict").textContent = count + (leader ?
        `${which}: ${leader.system}, ${short(shown(leader, measure))} ${what(measure)}.` :
        count || measure?.better === 0 ? "" : "No run here has that figure.");
};
