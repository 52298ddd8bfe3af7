# Step latency by part: one bar per run, its parts along the critical path end to end.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

part_color(name) = \
    name eq "compute" ? 0x0072b2 : name eq "retrieval" ? 0x56b4e9 : name eq "launch" ? 0xf0e442 : \
    name eq "sync" ? 0xe69f00 : name eq "link" ? 0xd55e00 : name eq "gather" ? 0xcc79a7 : \
    name eq "lookup" ? 0x009e73 : name eq "update" ? 0x66c5a8 : name eq "handoff" ? 0xb3e2d4 : \
    name eq "merge" ? 0x222222 : name eq "cpu_attention" ? 0x004d38 : \
    name eq "recompute" ? 0x003a5c : name eq "weights" ? 0x7a3500 : name eq "collective" ? 0x7b3f61 : 0xbbbbbb

title = ""; source = ""; longest = 0; last = 0; most = 0; ranges = 0; widest = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("bar") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("bar") && $2 > last ? (last = $2) : 0), \
    (is("bar") && $3 > most ? (most = $3) : 0), \
    (is("range") ? (ranges = 1) : 0), \
    (is("range") && $4 > widest ? (widest = $4) : 0), 0) nooutput
most = widest > most ? widest : most

# A label stands behind its bar, or behind the end of its range.
array ends[int(last) + 3]
do for [i = 1:|ends|] { ends[i] = 0 }
stats rows using (is("range") ? (ends[int($2 + 1)] = $4, 0) : 0) nooutput
behind(y, x) = ends[int(y + 1)] > x ? ends[int(y + 1)] : x

# The parts that are long enough to see, in the order of a bar.
parts = ""
stats rows using ( \
    (is("part") && $4 - $3 > most / 300 && !strstrt(parts, " ".strcol(6)." ") \
        ? (parts = parts." ".strcol(6)." ") : ""), 0) nooutput

PER_LINE = 5
keys = ceil(words(parts) / real(PER_LINE))
top = 46 + 22 * keys
foot = source.(ranges ? (source eq "" ? "" : "; ")."lines: range over families" : "")
height = top + 90 + 30 * last + foot_height(foot)
eval start(WIDTH, height)
set output picture

set lmargin longest + 2
set rmargin 2
set tmargin at screen 1 - real(top) / height
set bmargin at screen (86.0 + foot_height(foot)) / height
set label 1 title at screen 0.015, screen 1 - 20.0 / height left
set label 2 broken(foot) at screen 0.015, screen foot_place(foot, height) left tc rgb GREY

# A legend of its own, because the built-in one breaks lines differently in each format.
unset key
do for [i = 1:words(parts)] {
    x = 0.03 + 0.19 * ((i - 1) % PER_LINE)
    y = 1 - (50.0 + 22 * ((i - 1) / PER_LINE)) / height
    set object i rectangle center screen x, y size screen 0.025, screen 13.0 / height \
        fc rgb part_color(word(parts, i)) fs solid noborder
    set label 10 + i word(parts, i) at screen x + 0.02, y left
}

set xrange [0:1.4 * most]
set yrange [last + 0.7:0.3]
set xlabel "step latency (ms)" offset 0, 0.4
set border 1
unset ytics
set grid noytics xtics
set style fill solid 1 border rgb "white"

plot for [part in parts] rows \
        using (is("part") && strcol(6) eq part ? $3 : NaN):2:3:4:($2 - 0.38):($2 + 0.38) \
        with boxxyerror lc rgb part_color(part) lw 0.5, \
    rows using (is("bar") ? 0 : NaN):2:6 with labels right offset -0.7, 0, \
    rows using (is("group") ? 0 : NaN):2:6 with labels left, \
    for [i = 1:ranges] rows using (is("range") ? $3 / 2 + $4 / 2 : NaN):2:3:4 with xerrorbars lc rgb COLORS[7] lw 1.4 pt 0, \
    rows using (is("bar") ? behind($2, $3) : NaN):2:(three($3)." ms, ".three($4)." tok/s") \
        with labels left offset 0.6, 0
