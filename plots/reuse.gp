# The cost of reuse: a cached set that is reused saves its transfer, but attends to less of the mass.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; lines = 0; least = 100; ranges = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    ((is("point") || is("across")) && $3 < least ? (least = $3) : 0), \
    (is("across") || is("range") ? (ranges = 1) : 0), \
    (is("line") ? (lines = $2) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

# Of many lines, ranges would cover the picture.
ranges = lines <= |COLORS| ? ranges : 0
source = source.(ranges ? "; bars: ranges over families" : "")
height = 500 + foot_height(source)
eval start(WIDTH, height)
set output picture

set label 1 title at screen 0.015, screen 1 - 20.0 / height left
set label 2 broken(source) at screen 0.015, screen foot_place(source, height) left tc rgb GREY
set tmargin at screen 1 - 45.0 / height
set bmargin at screen (90.0 + foot_height(source)) / height
set lmargin 9
set rmargin 4
set key inside bottom left Left reverse samplen 2 spacing 1.2 title "at the points: threshold eta" left
set xlabel "reuse: wanted KV that HBM holds (%)" offset 0, 0.4
set ylabel "attention mass attended to (%)" offset 0.5, 0
# Room for labels on both sides; no share is below 0 or above 100.
set xrange [least < 10 ? -6 : 5 * floor((least - 5) / 5):103]
set xtics least < 50 ? 20 : 5
set offsets 0, 0, graph 0.06, graph 0.06

plot for [i = 1:lines * ranges] rows using (is("across") && $2 == i ? $3 : NaN):5:($4 - $3):(0) \
        @WHISKER lc rgb color(i) notitle, \
    for [i = 1:lines * ranges] rows using (is("range") && $2 == i ? $3 : NaN):4:(0):($5 - $4) \
        @WHISKER lc rgb color(i) notitle, \
    for [i = 1:lines] rows using (is("point") && $2 == i ? $3 : NaN):4 \
        with linespoints lc rgb color(i) dt dash(i) lw slight(i) pt point(i) ps 0.5 * slight(i) title names[i], \
    rows using (is("point") && int($2) % 2 ? $3 : NaN):4:7:(color($2)) \
        with labels left offset 0.5, 0.6 tc rgb variable notitle, \
    rows using (is("point") && int($2) % 2 == 0 ? $3 : NaN):4:7:(color($2)) \
        with labels right offset -0.5, -0.5 tc rgb variable notitle
