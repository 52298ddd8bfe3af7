# Time between tokens while the context grows: a line a run, and the shortest and longest steps around it.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; lines = 0; longest = 0; first = 1e300; last = 0; most = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("point") && $3 < first ? (first = $3) : 0), \
    (is("point") && $3 > last ? (last = $3) : 0), \
    (is("range") && $5 > most ? (most = $5) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("line") ? (lines = $2) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

under = (lines > 1 && longest > LONG ? legend_height(lines) : 0) + foot_height(source)
height = 440 + under
eval start(WIDTH, height)
set output picture

set label 1 (lines == 1 ? names[1].": ".title : title) at screen 0.015, screen 1 - 20.0 / height left
set label 2 broken(source) at screen 0.015, screen foot_place(source, height) left tc rgb GREY
set tmargin at screen 1 - 45.0 / height
set bmargin at screen (90.0 + under) / height
set lmargin 9
set rmargin lines == 1 || longest > LONG ? 3 : longest + 6
set key outside right center Left reverse samplen 2 spacing 1.15
if (lines == 1 || longest > LONG) { unset key }
# The lines here have no marks.
if (lines > 1 && longest > LONG) { do for [i = 1:lines] { eval legend_entry(i, 36 + foot_height(source)); unset label 100 + i } }
set xlabel "tokens of the context" offset 0, 0.4
set ylabel "time between tokens (ms)" offset 0.5, 0
set xrange [first:last]
set yrange [0:1.1 * most]

plot for [i = 1:lines] rows using (is("range") && $2 == i ? $3 : NaN):4:5 \
         with filledcurves lc rgb color(i) fs transparent solid 0.25 notitle, \
     for [i = 1:lines] rows using (is("point") && $2 == i ? $3 : NaN):4 \
         with lines lc rgb color(i) dt dash(i) lw 2 title names[i]
