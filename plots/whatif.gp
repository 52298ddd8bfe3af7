# The measure of runs along the swept key, with a ring at the knee; below it the hit ratio, or the time that the slowest
# hundredth of requests waits for the first token.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; ticks = ""; bare = ""; axis = ""; unit = ""; figure = ""; served = 0; ratio = 0; numbers = 0; budget = 0; lines = 0; hits = 0; ringed = 0; ranges = 0; longest = 0
least = 1e300; most = 0; peak = 0; lowest = 1e300; late = 0; soon = 1e300; points = 0; places = ""; marks = ""; ooms = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("axis") ? (axis = strcol(6), unit = strcol(7), numbers = int($3), budget = int($4)) : 0), \
    (is("figure") ? (figure = strcol(6), served = int($3), ratio = int($4)) : 0), \
    (is("line") ? (lines = $2) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("tick") ? (ticks = tick(ticks, $3, strcol(6)), bare = tick(bare, $3, "")) : ""), \
    (is("point") && $5 > 0 ? (hits = 1) : 0), \
    (is("range") ? (ranges = 1) : 0), \
    (is("point") && strcol(7) eq "knee" ? (ringed = 1) : 0), \
    (is("oom") ? (ooms = 1) : 0), \
    (is("point") || is("oom") ? (least = $3 < least ? $3 : least, most = $3 > most ? $3 : most) : 0), \
    (is("point") && $4 > peak ? (peak = $4) : 0), \
    (is("point") && $4 < lowest ? (lowest = $4) : 0), \
    (is("point") && $5 > late ? (late = $5) : 0), \
    (is("point") && $5 >= 0 && $5 < soon ? (soon = $5) : 0), \
    ((is("point") && $2 == 1) || is("oom") ? (points = points + 1, \
        places = tick(places, $3, axis eq "context" && $3 >= 1024 && int($3) % 1024 == 0 ? sprintf("%.0fK", $3 / 1024) : sprintf($3 < 1000 ? "%.3g" : "%.0f", $3)), marks = tick(marks, $3, "")) : ""), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

# A panel has room for nine names beside it.
low = longest > LONG || lines > 9
foot = source.(ringed && source ne "" ? "; " : "").(ringed ? "ring: the knee" : ""). \
    (ringed && served && axis eq "rate" ? "; dashed: all that arrive" : "").(ranges ? "; bars: range over families" : "").(ooms ? (source eq "" ? "" : "; ")."x: out of memory" : "")
under = (lines > 1 && low ? legend_height(lines) : 0) + foot_height(foot)
height = (hits ? 620 : 420) + under
eval start(WIDTH, height)
set output picture
set label 1 (lines == 1 ? names[1].": ".title : title) at screen 0.015, screen 1 - 20.0 / height left
set label 2 broken(foot) at screen 0.015, screen foot_place(foot, height) left tc rgb GREY
set lmargin 9
set rmargin lines == 1 || low ? 3 : longest + 6
set multiplot

# From the top of a panel down to its bottom, in pixels from the bottom of the picture.
panel(top, bottom) = sprintf("set tmargin at screen %f; set bmargin at screen %f", \
    1.0 * top / height, 1.0 * bottom / height)
below_panels = 90 + under
middle = (height + under) / 2
where = axis eq "budget" ? "HBM for the cache (GiB)" : axis eq "rate" ? "requests a second that arrive" : axis.(numbers && unit ne "" ? " (".unit.")" : "")

# An axis of equal ratios has a logarithmic scale; a budget has a linear one, because each byte costs the same.
ratios = numbers && !budget && least > 0 && most / least >= 8
plain = numbers && most >= 1e5 ? "%.0s %c" : "%g"
few = ratios && points <= 12 && (most < 1e5 || axis eq "context")
if (ratios) {
    set logscale x
    set xrange [0.9 * least:1.1 * most]
    eval "set xtics (".(few ? (hits ? marks : places) : hits ? log_marks(0.9 * least, 1.1 * most) : log_ticks(0.9 * least, 1.1 * most)).")"
}
if (!numbers) {
    set xrange [least - 0.5:most + 0.5]
    eval "set xtics (".(hits ? bare : ticks).")"
}

set key outside right center Left reverse samplen 2 spacing 1.15
if (lines == 1 || low) { unset key }
if (lines > 1 && low) { do for [i = 1:lines] { eval legend_entry(i, 36 + foot_height(foot)) } }
set ylabel figure offset 0.5, 0
if (served && axis eq "rate") { set yrange [0:1.2 * peak] } else { set yrange [0:*] }
if (figure eq "seconds a request" && peak >= 8 * lowest) { set logscale y; set yrange [*:*] }
eval panel(height - 45, hits ? middle + 30 : below_panels)
if (hits && numbers) { set format x "" } else { if (numbers) { set format x plain } }
if (!hits) { set xlabel where offset 0, 0.4 }
span(i, name, x) = is("range") && column(2) == i && strcol(7) eq name ? x : NaN
plot for [i = 1:lines * ranges] rows using (span(i, "rate", $3)):4:(0):($5 - $4) \
        @WHISKER lc rgb color(i) notitle, \
    for [i = 1:lines] rows using (is("point") && $2 == i ? $3 : NaN):4 \
        with linespoints lc rgb color(i) dt dash(i) lw slight(i) pt point(i) ps 0.5 * slight(i) title names[i], \
    for [i = 1:lines] rows using (is("point") && $2 == i && strcol(7) eq "knee" ? $3 : NaN):4 \
        with points lc rgb color(i) lw 1.6 pt 6 ps 2 notitle, \
    (served && axis eq "rate" ? x : NaN) with lines lc rgb GREY lw 1 dt 2 notitle, \
    rows using (is("oom") ? $3 : NaN):(0) with points lc rgb GREY lw 2 pt 2 ps 1.2 notitle

if (hits) {
    unset label
    unset arrow
    unset key
    set xlabel where offset 0, 0.4
    if (ratios) { eval "set xtics (".(few ? places : log_ticks(0.9 * least, 1.1 * most)).")" }
    if (numbers) { set format x plain } else { eval "set xtics (".ticks.")" }
    # Ticks of short times would be wide in seconds, and push the label out of the picture.
    times = ratio || late >= 0.1 ? 1 : 1000
    late = times * late; soon = times * soon
    set ylabel (ratio ? "hit ratio (%)" : times == 1 ? "first token, p99 (s)" : "first token, p99 (ms)")
    if (ratio) {
        set yrange [0:100]
        set ytics 20
    } else {
        if (soon > 0 && late >= 8 * soon) {
            set logscale y
            set yrange [0.8 * soon:1.25 * late]
            eval "set ytics (".log_ticks(0.8 * soon, 1.25 * late).")"
        } else {
            unset logscale y
            set yrange [0:*]
            set ytics autofreq
        }
    }
    eval panel(middle, below_panels)
    plot for [i = 1:lines * ranges] rows using (span(i, "hit", $3)):(times * $4):(0):(times * ($5 - $4)) \
        @WHISKER lc rgb color(i) notitle, \
        for [i = 1:lines] rows using (is("point") && $2 == i && $5 >= 0 ? $3 : NaN):(times * $5) \
        with linespoints lc rgb color(i) dt dash(i) lw slight(i) pt point(i) ps 0.5 * slight(i) notitle
}
unset multiplot
