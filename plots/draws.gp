# How far a result spreads over draws of the machine: one distribution per run, and a ring for the run itself.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; figure = ""; lines = 0; longest = 0; ranges = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("figure") ? (figure = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("range") ? (ranges = 1) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

height = 420
eval start(WIDTH, height)
set output picture
set label 1 (lines == 1 ? names[1].": ".title : title) at screen 0.015, screen 1 - 20.0 / height left
set label 2 "draws of the machine's figures; ring: as its profile says".(ranges ? ", bar: range over families" : "") \
    at screen 0.015, screen 14.0 / height left tc rgb GREY
set lmargin 9
set rmargin lines == 1 ? 3 : longest + 6
set tmargin at screen 1 - 45.0 / height
set bmargin at screen 85.0 / height
if (lines == 1) { unset key } else { set key outside right center Left reverse samplen 2 spacing 1.15 }
set ylabel "draws (%)" offset 0.5, 0
set yrange [0:100]
set ytics 20
set format x "%g"
set xlabel "at most so many ".figure offset 0, 0.4
span(i, x) = is("range") && column(2) == i ? x : NaN
plot for [i = 1:lines * ranges] rows using (span(i, $3 / 2 + $4 / 2)):5:(span(i, $3)):(span(i, $4)) \
        with xerrorbars lc rgb color(i) lw 1.4 pt 0 notitle, \
    for [i = 1:lines] rows using (is("point") && $2 == i ? $3 : NaN):4 \
        with steps lc rgb color(i) lw 2 + 0.5 * below(i) title names[i], \
    for [i = 1:lines] rows using (is("own") && $2 == i ? $3 : NaN):4 \
        with points lc rgb color(i) lw 2 pt 6 ps 1.4 notitle
