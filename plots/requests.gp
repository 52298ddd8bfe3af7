# Times of requests: two distributions, one below the other.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; lines = 0; longest = 0; array least[2] = [1e300, 1e300]; array most[2] = [0, 0]
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("point") && $3 < least[int($5)] ? (least[int($5)] = $3) : 0), \
    (is("point") && $3 > most[int($5)] ? (most[int($5)] = $3) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = fitted(strcol(6)), 0) : 0) nooutput

# Names are below the panels: in one column, or in two if they are short.
named = lines == 1 ? 0 : lines
columns = longest > 32 ? 1 : 2
room = 24 * ((named + columns - 1) / columns)
height = 600 + room
eval start(WIDTH, height)
set output picture
set label 1 (lines == 1 ? names[1].": ".title : title) at screen 0.015, screen 1 - 20.0 / height left
set lmargin 9
set rmargin 3
set multiplot

# From the top of a panel down to its bottom, in pixels from the bottom of the picture.
panel(top, bottom) = sprintf("set tmargin at screen %f; set bmargin at screen %f", \
    1.0 * top / height, 1.0 * bottom / height)

# Times that are nearly equal stand in the middle of a wider axis: ticks would all have the same digits.
near(panel) = most[panel] < 1.02 * least[panel]
between(panel) = near(panel) ? sprintf("set xrange [%g:%g]", 0.9 * least[panel], 1.1 * most[panel]) : "set autoscale x"

unset key
set ylabel "requests (%)" offset 0.5, 0
set yrange [0:100]
set ytics 20
if (most[1] >= 8 * least[1]) { set logscale x; set format x "%.0s %c" }
eval between(1)
set xlabel "at most so many ms to the first token" offset 0, 0.4
eval panel(height - 45, room + 360)
plot for [i = 1:lines] rows using (is("point") && $2 == i && $5 == 1 ? $3 : NaN):4 \
        with lines lc rgb color(i) lw 2 notitle

unset label 1
unset logscale x
set format x "%g"
eval between(2)
set xlabel "at most so many ms for each next token" offset 0, 0.4
eval panel(room + 290, room + 70)
# gnuplot's own key would break its column at the end of a panel.
down(i) = (room + 2.0 - 24 * ((i - 1) / columns)) / height
across(i) = 0.09 + 0.46 * ((i - 1) % columns)
do for [i = 1:named] {
    set arrow i from screen across(i), screen down(i) rto screen 0.045, screen 0 nohead \
        lc rgb color(i) lw 2
    set label 1 + i names[i] at screen across(i) + 0.055, screen down(i) left
}
plot for [i = 1:lines] rows using (is("point") && $2 == i && $5 == 2 ? $3 : NaN):4 \
        with lines lc rgb color(i) lw 2 notitle
unset multiplot
