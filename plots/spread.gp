# How far heads differ: one panel per policy, with a band from the tenth to the ninetieth percentile of the heads.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; parts = ""; panels = 0; most = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("source") ? (parts = strcol(7)) : ""), \
    (is("band") && $3 > most ? (most = $3) : 0), \
    (is("panel") ? (panels = int($2)) : 0), 0) nooutput
array names[panels]
stats rows using (is("panel") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

columns = panels < 3 ? panels : panels == 4 ? 2 : 3
lines = ceil(panels / real(columns))
TOP = 102.0; BOTTOM = 50.0; PANEL = columns == 1 ? 400.0 : columns == 2 ? 300.0 : 230.0
LEFT = 78.0; GAP = 30.0; UNDER = 62.0
height = TOP + BOTTOM + PANEL * lines
across = (WIDTH - LEFT) / columns
eval start(WIDTH, height)
set output picture

set label 1 title at screen 0.015, screen 1 - 20.0 / height left
set label 2 source."; ring: the knee of all together" \
    at screen 0.015, screen 14.0 / height left tc rgb GREY
set label 3 "hit ratio (%)" at screen 14.0 / WIDTH, screen 0.5 center rotate by 90
set label 4 "size of a cache (% of all blocks)" at screen 0.5, screen 44.0 / height center

# One legend for all panels.
unset key
legend = 1 - 52.0 / height
set object 1 rectangle center screen 0.11, screen legend size screen 0.03, screen 14.0 / height \
    fc rgb COLORS[1] fs transparent solid 0.25 noborder
set arrow 1 from screen 0.395, screen legend to screen 0.435, screen legend nohead lc rgb COLORS[1] lw 2
set arrow 2 from screen 0.625, screen legend to screen 0.675, screen legend nohead lc rgb COLORS[2] lw 2 dt 2
set label 6 "middle 80% of ".parts at screen 0.135, screen legend left
set label 7 "their median" at screen 0.445, screen legend left
set label 8 "all together" at screen 0.685, screen legend left

set xrange [0:most]
set yrange [0:100]
set xtics most > 50 ? 25 : most > 20 ? 10 : 5
set ytics 50
set style fill transparent solid 0.25 noborder
set multiplot
do for [i = 1:panels] {
    row = (i - 1) / columns
    column = (i - 1) % columns
    set lmargin at screen (LEFT + across * column) / WIDTH
    set rmargin at screen (LEFT + across * (column + 1) - GAP) / WIDTH
    set tmargin at screen 1 - (TOP + PANEL * row) / height
    set bmargin at screen 1 - (TOP + PANEL * (row + 1) - UNDER) / height
    set label 5 names[i] at graph 0.5, graph 1 center offset 0, 0.7
    if (column == 0) { set format y "%g" } else { set format y "" }
    plot rows using (is("band") && $2 == i ? $3 : NaN):4:5 with filledcurves lc rgb COLORS[1], \
        rows using (is("median") && $2 == i ? $3 : NaN):4 with lines lc rgb COLORS[1] lw 2, \
        rows using (is("whole") && $2 == i ? $3 : NaN):4 with lines lc rgb COLORS[2] lw 2 dt 2, \
        rows using (is("whole") && $2 == i && $5 == 1 ? $3 : NaN):4 \
            with points lc rgb COLORS[2] lw 2 pt 6 ps 1.8
    # Labels placed on the screen are drawn with the first panel only.
    unset label
    unset arrow
    unset object
}
unset multiplot
