# Tokens a second over the step time, one colour per system; runs on the Pareto front are filled, and sized by their
# HBM.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; lines = 0; hbm = 0; short = 1e300; long = 0; slow = 1e300; fast = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("point") && $5 > hbm ? (hbm = $5) : 0), \
    (is("point") && $3 < short ? (short = $3) : 0), \
    (is("point") && $3 > long ? (long = $3) : 0), \
    (is("point") && $4 < slow ? (slow = $4) : 0), \
    (is("point") && $4 > fast ? (fast = $4) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

height = 540
eval start(WIDTH, height)
set output picture

set label 1 title at screen 0.015, screen 1 - 20.0 / height left
set label 2 "filled: on the Pareto front, sized by HBM; pale: not on it" \
    at screen 0.015, screen 1 - 42.0 / height left tc rgb GREY
set label 3 source at screen 0.015, screen 14.0 / height left tc rgb GREY
set tmargin at screen 1 - 68.0 / height
set bmargin at screen 90.0 / height
set lmargin 11
set key outside right top Left reverse samplen 1 spacing 1.2
if (short > 0 && long / short >= 8) { set logscale x; set xrange [0.9 * short:1.1 * long] }
if (slow > 0 && fast / slow >= 8) { set logscale y; set yrange [0.8 * slow:1.3 * fast] }
set xlabel "step: one token for each sequence (ms)" offset 0, 0.4
set ylabel "tokens a second, all sequences" offset 0.5, 0
set offsets graph 0.03, graph 0.03, graph 0.05, graph 0.03

plot for [i = 1:lines] rows using (is("point") && $2 == i && strcol(7) ne "front" ? $3 : NaN):4 \
        with points lc rgb (0xa0000000 + color(i)) pt 6 ps 0.7 notitle, \
    for [i = 1:lines] rows using (is("point") && $2 == i && strcol(7) eq "front" ? $3 : NaN):4:(0.5 + 1.5 * $5 / hbm) \
        with points lc rgb color(i) pt 7 ps variable notitle, \
    for [i = 1:lines] NaN with points lc rgb color(i) pt 7 ps 1 title names[i]
