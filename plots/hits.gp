# Hit ratio by system, along the cache's budget or the context if runs sweep one of them.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; dropped = ""; axis = ""; lines = 0; longest = 0; least = 100; ranges = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("dropped") ? (dropped = strcol(6)) : ""), \
    (is("axis") ? (axis = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("range") ? (ranges = 1) : 0), \
    ((is("point") || is("range")) && $4 < least ? (least = $4) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

bars = axis eq "system"
# Of many lines, ranges would cover the picture.
ranges = bars || lines <= |COLORS| ? ranges : 0
foot = source.(ranges ? "; bars: range over families" : "").(dropped eq "" ? "" : "; not drawn: ".dropped)
keyed = bars || lines == 1 ? 0 : legend_height(lines)
below_plot = (bars ? 86 : 90) + keyed + foot_height(foot)
height = (bars ? 142 + 30 * lines : 480 + keyed) + foot_height(foot)
eval start(WIDTH, height)
set output picture

set label 1 (keyed || bars ? title : names[1].": ".title) at screen 0.015, screen 1 - 20.0 / height left
set label 2 broken(foot) at screen 0.015, screen foot_place(foot, height) left tc rgb GREY
set bmargin at screen real(below_plot) / height
set tmargin at screen 1 - 45.0 / height

if (bars) {
    set lmargin longest + 2
    set rmargin 3
    set xrange [0:110]
    set xtics 0, 20, 100
    set yrange [lines + 0.7:0.3]
    set xlabel "hit ratio (%)" offset 0, 0.4
    set border 1
    unset ytics
    set style fill solid 1 noborder
    plot rows using (is("point") ? $4 / 2 : NaN):2:(0):4:($2 - 0.36):($2 + 0.36) \
            with boxxyerror lc rgb COLORS[1] notitle, \
        rows using (is("point") ? 0 : NaN):2:6 with labels right offset -0.7, 0 notitle, \
        for [i = 1:ranges] rows using (is("range") ? $4 / 2 + $5 / 2 : NaN):2:4:5 \
            with xerrorbars lc rgb GREY lw 1.4 pt 0 notitle, \
        rows using (is("point") ? $5 : NaN):2:(sprintf(ranges ? "%.0f" : "%.1f", $4)) \
            with labels left offset 0.5, 0 notitle
} else {
    set lmargin 9
    set rmargin 3
    unset key
    if (keyed) { do for [i = 1:lines] { eval legend_entry(i, 36 + foot_height(foot)) } }
    set ylabel "hit ratio (%)" offset 0.5, 0
    set yrange [10 * floor(least / 10):100]
    set xlabel axis eq "budget" ? "HBM for the cache (GiB)" : "context (K tokens)" offset 0, 0.4
    if (axis eq "budget") { set xrange [0:*] } else { set logscale x 2 }
    plot for [i = 1:lines * ranges] rows using (is("range") && $2 == i ? $3 : NaN):4:(0):($5 - $4) \
        @WHISKER lc rgb color(i), \
        for [i = 1:lines] rows using (is("point") && $2 == i ? $3 : NaN):4 \
        with linespoints lc rgb color(i) dt dash(i) lw slight(i) pt point(i) ps 0.5 * slight(i)
}
