# The time of one kernel over one of its sizes, by what bounds it, with a ring at the size that was asked about.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; axis = ""; lines = 0; least = 1e300; most = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("axis") ? (axis = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("point") && $3 < least ? (least = $3) : 0), \
    (is("point") && $3 > most ? (most = $3) : 0), 0) nooutput
array names[lines]
array drawn[lines]
do for [i = 1:lines] { drawn[i] = 0 }
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput
stats rows using (is("point") ? (drawn[int($2)] = 1, 0) : 0) nooutput

height = 500
eval start(WIDTH, height)
set output picture
set label 1 title at screen 0.015, screen 1 - 20.0 / height left
set label 2 source at screen 0.015, screen 14.0 / height left tc rgb GREY
set tmargin at screen 1 - 45.0 / height
set bmargin at screen 90.0 / height
set lmargin 11
set key outside right center Left reverse samplen 2 spacing 1.15 title "bound" left
set logscale xy
set format x "%.0s %c"
set format y "%g"
set xrange [least:most]
if (least > 0 && most > least) { eval "set xtics (".log_ticks(least, most).")" }
set xlabel axis offset 0, 0.4
set ylabel "time (us)" offset 0.5, 0

plot rows using (is("point") ? $3 : NaN):4 with lines lc rgb GREY lw 1 notitle, \
    for [i = 1:lines] rows using (is("point") && $2 == i ? $3 : NaN):4 \
        with lines lc rgb color(i) lw 3 title (drawn[i] ? names[i] : ""), \
    rows using (is("asked") ? $3 : NaN):4 with points lc rgb "black" lw 1.6 pt 6 ps 1.8 notitle
