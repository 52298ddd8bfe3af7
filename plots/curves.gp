# Hit ratio over cache size: one line per policy, with a ring at its knee.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; lines = 0; longest = 0; most = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("point") && $3 > most ? (most = $3) : 0), 0) nooutput
array names[lines]
array hues[lines]
array dashes[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), hues[int($2)] = $3, dashes[int($2)] = $4, 0) : 0) nooutput
# A color is a policy and a dash a trace.
color(i) = COLORS[1 + (int(hues[int(i)]) + |COLORS| - 1) % |COLORS|]
dash(i) = int(dashes[int(i)])

foot = source."; ring, and % of each: the knee, furthest above the line from origin to end"
height = 470 + legend_height(lines) + foot_height(foot)
eval start(WIDTH, height)
set output picture

set label 1 title at screen 0.015, screen 1 - 20.0 / height left
set label 2 broken(foot) at screen 0.015, screen foot_place(foot, height) left tc rgb GREY
set tmargin at screen 1 - 45.0 / height
set bmargin at screen (90.0 + legend_height(lines) + foot_height(foot)) / height
set lmargin 9
set rmargin 3
unset key
do for [i = 1:lines] { eval legend_entry(i, 36 + foot_height(foot)) }
set xlabel "size of a cache (% of all blocks)" offset 0, 0.4
set ylabel "hit ratio (%)" offset 0.5, 0
set xrange [0:most]
set yrange [0:100]
set ytics 20

plot for [i = 1:lines] rows using (is("point") && $2 == i ? $3 : NaN):4 \
        with linespoints lc rgb color(i) dt dash(i) lw 1.6 pt point(i) ps 0.6, \
    for [i = 1:lines] rows using (is("point") && $2 == i && $5 == 1 ? $3 : NaN):4 \
        with points lc rgb color(i) lw 1.6 pt 6 ps 1.8
