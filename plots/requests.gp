# How requests fare: two distributions, one below the other.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; lines = 0; longest = 0; measured = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("measured") ? (measured = int($2)) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

height = 640
eval start(WIDTH, height)
set output picture
set label 1 (lines == 1 ? names[1].": ".title : title) at screen 0.015, screen 1 - 20.0 / height left
set lmargin 9
single = lines == 1 && !measured
set rmargin single ? 3 : (longest > 8 || !measured ? longest : 8) + 6
set multiplot

# From the top of a panel down to its bottom, in pixels from the bottom of the picture.
panel(top, bottom) = sprintf("set tmargin at screen %f; set bmargin at screen %f", \
    1.0 * top / height, 1.0 * bottom / height)

if (single) { unset key } else { set key outside right center Left reverse samplen 2 spacing 1.15 }
set ylabel "requests (%)" offset 0.5, 0
set yrange [0:100]
set ytics 20
set logscale x
set format x "%.0s %c"
set xlabel "at most so many ms to the first token" offset 0, 0.4
eval panel(height - 45, height / 2 + 60)
plot for [i = measured:measured] (measured ? rows : "/dev/null") \
        using (is("point") && $2 == i && $5 == 1 ? $3 : NaN):4 \
        with lines lc rgb "black" lw 5 title (measured ? "measured" : ""), \
    for [i = 1:lines] rows using (is("point") && $2 == i && $5 == 1 ? $3 : NaN):4 \
        with lines lc rgb color(i) lw 2 title names[i]

unset label 1
unset key
unset logscale x
set format x "%g"
set xlabel "at most so many ms for each next token" offset 0, 0.4
eval panel(height / 2 - 10, 70)
plot for [i = measured:measured] (measured ? rows : "/dev/null") \
        using (is("point") && $2 == i && $5 == 2 ? $3 : NaN):4 with lines lc rgb "black" lw 5 notitle, \
    for [i = 1:lines] rows using (is("point") && $2 == i && $5 == 2 ? $3 : NaN):4 \
        with lines lc rgb color(i) lw 2 notitle
unset multiplot
