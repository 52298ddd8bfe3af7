# What each mechanism saves, alone and added last; below them the sum of what they save alone, and what the system
# saves.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; source = ""; longest = 16; last = 0; least = 0; most = 0; ranges = 0
most_of(a, b) = b > a ? b : a
least_of(a, b) = b < a ? b : a
drawn(kind) = kind eq "bar" || kind eq "both"
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("source") ? (source = strcol(6)) : ""), \
    (is("bar") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("bar") ? (last = most_of(last, $2)) : 0), \
    (drawn(strcol(1)) ? (least = least_of(least_of(least, $3), $4)) : 0), \
    (drawn(strcol(1)) ? (most = most_of(most_of(most, $3), $4)) : 0), \
    (is("range") ? (least = least_of(least, $3), most = most_of(most, $4), ranges = 1) : 0), 0) nooutput

# The number of a bar stands behind its range, where it has one.
array lows[2 * (int(last) + 1)]
array highs[2 * (int(last) + 1)]
do for [i = 1:|lows|] { lows[i] = 0; highs[i] = 0 }
place(y, i) = int(2 * y + i)
stats rows using (is("range") ? (lows[place($2, $5)] = $3, highs[place($2, $5)] = $4, 0) : 0) nooutput

foot = source.(ranges ? "; lines: range over families" : "")
height = 150 + 44 * (last + 1.5) + foot_height(foot)
eval start(WIDTH, height)
set output picture
span = most - least > 0 ? most - least : 1

set lmargin longest + 2
set rmargin 2
set tmargin at screen 1 - 76.0 / height
set bmargin at screen (86.0 + foot_height(foot)) / height
set label 1 title at screen 0.015, screen 1 - 20.0 / height left
set label 2 broken(foot) at screen 0.015, screen foot_place(foot, height) left tc rgb GREY

unset key
do for [i = 1:2] {
    x = 0.03 + 0.42 * (i - 1)
    y = 1 - 52.0 / height
    set object i rectangle center screen x, y size screen 0.025, screen 13.0 / height \
        fc rgb color(i) fs solid noborder
    name = i == 1 ? "alone, or on top of what it needs" : "added last, to all others"
    set label 10 + i name at screen x + 0.02, y left
}

# The two bars of a mechanism lie on both sides of its line; all bars are shifted down a little.
line(kind, y) = kind eq "bar" ? y : last + 1.5
set xrange [least - (least < 0 ? 0.14 : 0.02) * span : most + (most > 0 ? 0.14 : 0.02) * span]
set yrange [last + 2.1:0.4]
set xlabel "saved of a step (ms)" offset 0, 0.4
set border 1
unset ytics
set grid noytics xtics
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb GREY lw 1
set style fill solid 1 border rgb "white"
number(x) = sprintf("%s%s", x < 0 ? "-" : "", three(abs(x)))
end(x, y, i) = x >= 0 ? most_of(x, highs[place(y, i)]) + 0.01 * span : least_of(x, lows[place(y, i)]) - 0.01 * span

plot for [i = 1:2] rows \
        using (drawn(strcol(1)) ? 0.5 * column(2 + i) : NaN):(line(strcol(1), $2) + 0.4 * (i - 1.5)):(0.5 * column(2 + i)):(0.19) \
        with boxxyerror lc rgb color(i) lw 0.5, \
    for [i = 1:2 * ranges] rows \
        using (is("range") && $5 == i ? $3 / 2 + $4 / 2 : NaN):(line(strcol(7), $2) + 0.4 * (i - 1.5)):3:4 \
        with xerrorbars lc rgb COLORS[7] lw 1.2 pt 0, \
    for [i = 1:2] rows \
        using (drawn(strcol(1)) && column(2 + i) >= 0 ? end(column(2 + i), $2, i) : NaN):(line(strcol(1), $2) + 0.4 * (i - 1.5)):(number(column(2 + i))) \
        with labels left, \
    for [i = 1:2] rows \
        using (drawn(strcol(1)) && column(2 + i) < 0 ? end(column(2 + i), $2, i) : NaN):(line(strcol(1), $2) + 0.4 * (i - 1.5)):(number(column(2 + i))) \
        with labels right, \
    rows using (drawn(strcol(1)) ? least - (least < 0 ? 0.14 : 0.02) * span : NaN):(line(strcol(1), $2)):6 with labels right offset -0.7, 0
