# What drafts gain, by batch: below 1 they cost more than they yield.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; lines = 0; longest = 0; least = 1; most = 1; short = 1e300; long = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("point") && $3 < short ? (short = $3) : 0), \
    (is("point") && $3 > long ? (long = $3) : 0), \
    (is("point") && $4 < least ? (least = $4) : 0), \
    (is("point") && $4 > most ? (most = $4) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

foot = "above 1: drafts pay".(source eq "" ? "" : "; ".source)
keyed = lines == 1 ? 0 : legend_height(lines)
height = 480 + keyed + foot_height(foot)
eval start(WIDTH, height)
set output picture

set label 1 (keyed ? title : names[1].": ".title) at screen 0.015, screen 1 - 20.0 / height left
set label 2 broken(foot) at screen 0.015, screen foot_place(foot, height) left tc rgb GREY
set bmargin at screen real(90 + keyed + foot_height(foot)) / height
set tmargin at screen 1 - 45.0 / height
set lmargin 9
set rmargin 3
unset key
if (keyed) { do for [i = 1:lines] { eval legend_entry(i, 36 + foot_height(foot)) } }
set ylabel "tokens a second, over none drafted" offset 0.5, 0
set xlabel "sequences of a batch" offset 0, 0.4
set yrange [floor(5 * least) / 5.0:ceil(5 * most) / 5.0]
set logscale x 2
set xrange [short:(long > short ? long : 2 * short)]
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb GREY lw 1.4
plot for [i = 1:lines] rows using (is("point") && $2 == i ? $3 : NaN):4 \
    with linespoints lc rgb color(i) dt dash(i) lw slight(i) pt point(i) ps 0.5 * slight(i)
