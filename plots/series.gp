# Servers over time: requests, tokens, the link, one below the other.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

title = ""; lines = 0; longest = 0; last = 0; traffic = 0; shares = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("line") ? (lines = $2) : 0), \
    (is("axis") && strcol(6) eq "share" ? (shares = 1) : 0), \
    (is("line") && strlen(strcol(6)) > longest ? (longest = strlen(strcol(6))) : 0), \
    (is("point") && $3 > last ? (last = $3) : 0), \
    (is("point") && $5 == 3 && $4 > traffic ? (traffic = $4) : 0), 0) nooutput
array names[lines]
stats rows using (is("line") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

# The quantities that a panel shows for one run: by panel, then place.
PARTS = 5
array parts[3 * PARTS]
do for [i = 1:|parts|] { parts[i] = "" }
stats rows using (is("part") ? (parts[int(PARTS * ($3 - 1) + $2)] = strcol(6), 0) : 0) nooutput

panels = traffic > 0 ? 3 : 2
each = 190
height = 105 + each * panels + 20 * (panels - 1)
eval start(WIDTH, height)
set output picture
set label 1 (lines == 1 ? names[1].": ".title : title) at screen 0.015, screen 1 - 20.0 / height left
set lmargin 10
set rmargin lines == 1 ? 21 : longest + 6
set multiplot

# Panel i, counted from the top.
panel(i) = sprintf("set tmargin at screen %f; set bmargin at screen %f", \
    1 - (40.0 + (i - 1) * (each + 20)) / height, 1 - (40.0 + (i - 1) * (each + 20) + each) / height)

minutes = last > 600 && !shares
set xrange [0:(shares ? 100 : minutes ? last / 60 : last)]
set yrange [0:*]
set key outside right center Left reverse samplen 2 spacing 1.15
what(i) = i == 1 ? (lines == 1 ? "requests" : "requests in queue") : \
    i == 2 ? (lines == 1 ? "tokens a second" : "output tokens a second") : "link (GB/s)"
do for [i = 1:panels] {
    eval panel(i)
    set ylabel what(i) offset 0.5, 0
    if (i == panels) {
        set format x "%g"
        set xlabel shares ? "% of a run's time, which is behind its name" \
            : (minutes ? "minutes" : "seconds")." since the first request" offset 0, 0.4
    } else {
        set format x ""
        unset xlabel
    }
    if (lines == 1) {
        plot for [j = 1:PARTS] parts[PARTS * (i - 1) + j] ne "" ? rows : "/dev/null" \
            using (is("point") && $5 == i && $2 == j ? (minutes ? $3 / 60 : $3) : NaN):4 \
            with lines lc rgb color(j) lw 1.6 title parts[PARTS * (i - 1) + j]
    } else {
        if (i > 1) { unset key }
        plot for [j = 1:lines] rows \
            using (is("point") && $5 == i && $2 == j ? (minutes ? $3 / 60 : $3) : NaN):4 \
            with lines lc rgb color(j) lw 1.6 title names[j]
    }
    unset label 1
}
unset multiplot
