# Tokens a second over the step time, one colour per system; runs on the Pareto front are filled, and sized by their
# HBM. Below, the attention mass of the same runs, if some attend to less than all of it.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; lines = 0; longest = 0; hbm = 0; short = 1e300; long = 0; slow = 1e300; fast = 0; masses = 0; ranges = 0; least = 100; settings = 1; entries = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("entry") ? (entries = $2) : 0), \
    (is("entry") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("mass") ? (masses = 1) : 0), \
    (is("mass") && $4 < least ? (least = $4) : 0), \
    (is("range") ? (ranges = 1) : 0), \
    (is("point") && $5 > hbm ? (hbm = $5) : 0), \
    (is("point") && $3 < short ? (short = $3) : 0), \
    (is("point") && $3 > long ? (long = $3) : 0), \
    (is("point") && $4 < slow ? (slow = $4) : 0), \
    (is("point") && $4 > fast ? (fast = $4) : 0), 0) nooutput
# Ranges are drawn whole.
stats rows using ( \
    (is("settings") ? (settings = $2) : 0), \
    (is("range") && strcol(7) eq "step" && $3 < short ? (short = $3) : 0), \
    (is("range") && strcol(7) eq "step" && $4 > long ? (long = $4) : 0), \
    (is("range") && strcol(7) eq "rate" && $3 < slow ? (slow = $3) : 0), \
    (is("range") && strcol(7) eq "rate" && $4 > fast ? (fast = $4) : 0), \
    (is("range") && strcol(7) eq "mass" && $3 < least ? (least = $3) : 0), 0) nooutput
array paints[lines]
array symbols[lines]
stats rows using (is("line") ? (paints[int($2)] = color($3), symbols[int($2)] = int($4), 0) : 0) nooutput
# A filled symbol for runs on the front, and the same empty one for others.
array FILLED[5] = [7, 5, 9, 13, 11]
shape(symbol) = FILLED[1 + (symbol + |FILLED| - 1) % |FILLED|]
filled(i) = shape(symbols[i])
# The legend: lines; or, of many settings, colors of systems and, in black, symbols of settings.
array names[entries]
array inks[entries]
array marks[entries]
stats rows using (is("entry") ? (names[int($2)] = strcol(6), inks[int($2)] = $3 > 0 ? color($3) : 0, \
    marks[int($2)] = $4 > 0 ? shape(int($4)) : 7, 0) : 0) nooutput

under = masses ? 180 : 0
height = (entries > 14 ? 120 + 30 * entries : 540) + under
eval start(WIDTH, height)
set output picture

set label 1 title at screen 0.015, screen 1 - 20.0 / height left
set label 2 "filled: on the Pareto front".(settings > 1 ? " of its setting" : "").", sized by HBM; pale: not on it".(ranges ? "; bars: range over families" : "") \
    at screen 0.015, screen 1 - 42.0 / height left tc rgb GREY
set label 3 source at screen 0.015, screen 14.0 / height left tc rgb GREY
set lmargin 11
set rmargin longest + 6
set key outside right top Left reverse samplen 1 spacing 1.2
set multiplot

# From the top of a panel down to its bottom, in pixels from the bottom of the picture.
panel(top, bottom) = sprintf("set tmargin at screen %f; set bmargin at screen %f", \
    1.0 * top / height, 1.0 * bottom / height)
across = short > 0 && long / short >= 8
where = "step: one token for each sequence (ms)"
span(i, name, x) = is("range") && column(2) == i && strcol(7) eq name ? x : NaN

if (across) {
    set logscale x
    set xrange [0.9 * short:1.1 * long]
} else {
    set xrange [short - 0.05 * (long - short) - 0.001 * long:long + 0.05 * (long - short) + 0.001 * long]
}
if (across) { eval "set xtics (".log_ticks(0.9 * short, 1.1 * long).")" }
if (slow > 0 && fast / slow >= 8) {
    set logscale y
    set yrange [0.8 * slow:1.3 * fast]
    eval "set ytics (".log_ticks(0.8 * slow, 1.3 * fast).")"
} else {
    set offsets 0, 0, graph 0.05, graph 0.03
}
if (!masses) { set xlabel where offset 0, 0.4 }
if (masses) { set format x "" }
if (masses && across) { eval "set xtics (".log_marks(0.9 * short, 1.1 * long).")" }
set ylabel "tokens a second, all sequences" offset 0.5, 0
eval panel(height - 68, masses ? under + 75 : 90)
plot for [i = 1:lines * ranges] rows using (span(i, "step", $3 / 2 + $4 / 2)):(span(i, "step", $5)):(span(i, "step", $3)):(span(i, "step", $4)) \
        with xerrorbars lc rgb paints[i] lw 1 pt 0 notitle, \
    for [i = 1:lines * ranges] rows using (span(i, "rate", $5)):3:(0):($4 - $3) \
        @WHISKER lc rgb paints[i] notitle, \
    for [i = 1:lines] rows using (is("point") && $2 == i && strcol(7) ne "front" ? $3 : NaN):4 \
        with points lc rgb (0xa0000000 + paints[i]) pt filled(i) - 1 ps 0.7 notitle, \
    for [i = 1:lines] rows using (is("point") && $2 == i && strcol(7) eq "front" ? $3 : NaN):4:(0.5 + 1.5 * $5 / hbm) \
        with points lc rgb paints[i] pt filled(i) ps variable notitle, \
    for [i = 1:entries] NaN with points lc rgb inks[i] pt marks[i] ps 1 title names[i]

if (masses) {
    unset label
    unset key
    unset logscale y
    set offsets 0, 0, 0, 0
    set format x "%g"
    set ytics autofreq
    set yrange [10 * floor((least - 1) / 10):102]
    set ylabel "attention mass (%)" offset 0.5, 0
    set xlabel where offset 0, 0.4
    if (across) { eval "set xtics (".log_ticks(0.9 * short, 1.1 * long).")" }
    eval panel(under + 60, 90)
    plot for [i = 1:lines * ranges] rows using (span(i, "mass", $5)):3:(0):($4 - $3) \
            @WHISKER lc rgb paints[i] notitle, \
        for [i = 1:lines] rows using (is("mass") && $2 == i && strcol(7) ne "front" ? $3 : NaN):4 \
            with points lc rgb (0xa0000000 + paints[i]) pt filled(i) - 1 ps 0.7 notitle, \
        for [i = 1:lines] rows using (is("mass") && $2 == i && strcol(7) eq "front" ? $3 : NaN):4:(0.5 + 1.5 * $5 / hbm) \
            with points lc rgb paints[i] pt filled(i) ps variable notitle
}
unset multiplot
