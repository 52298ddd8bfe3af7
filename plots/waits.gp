# Where the time of requests goes: one panel per run, a bar for each fiftieth of its requests, quickest first.
rows = ARG1; picture = ARG2; format = ARG3
load ARG4."/style.gp"

wait_color(name) = \
    name eq "api" ? 0x8c6bb1 : \
    name eq "queue" ? 0xbbbbbb : name eq "load" ? 0xe69f00 : name eq "prefill" ? 0x56b4e9 : \
    name eq "preempted" ? 0xd55e00 : name eq "others" ? 0xcc79a7 : name eq "decode" ? 0x0072b2 : \
    name eq "link" ? 0x7a3500 : name eq "lookup" ? 0x009e73 : name eq "update" ? 0x66c5a8 : \
    name eq "handoff" ? 0xb3e2d4 : name eq "sync" ? 0x004d38 : \
    name eq "launch" ? 0xf0e442 : name eq "gather" ? 0x7b3f61 : name eq "overhead" ? 0x666666 : 0x222222

title = ""; panels = 0; most = 0
stats rows using ( \
    (is("title") ? (title = strcol(6)) : ""), \
    (is("panel") ? (panels = $2) : 0), \
    (is("box") && $5 > most ? (most = $5) : 0), 0) nooutput
array names[panels]
stats rows using (is("panel") ? (names[int($2)] = strcol(6), 0) : 0) nooutput

# The causes that are long enough to see in any bar, from the bottom up.
causes = ""
stats rows using ( \
    (is("box") && $5 - $4 > most / 300 && !strstrt(causes, " ".strcol(6)." ") \
        ? (causes = causes." ".strcol(6)." ") : ""), 0) nooutput

PER_LINE = 6
keys = ceil(words(causes) / real(PER_LINE))
top = 46 + 22 * keys
each = 200
height = top + 70 + (each + 30) * panels
eval start(WIDTH, height)
set output picture
set label 1 (panels == 1 ? names[1].": ".title : title) at screen 0.015, screen 1 - 20.0 / height left

# A legend of its own, because the built-in one breaks lines differently in each format.
unset key
do for [i = 1:words(causes)] {
    x = 0.03 + 0.16 * ((i - 1) % PER_LINE)
    y = 1 - (50.0 + 22 * ((i - 1) / PER_LINE)) / height
    set object i rectangle center screen x, y size screen 0.025, screen 13.0 / height \
        fc rgb wait_color(word(causes, i)) fs solid noborder
    set label 10 + i word(causes, i) at screen x + 0.02, y left
}
set lmargin 10
set rmargin 3
set multiplot
set xrange [0:100]
set yrange [0:*]
set ylabel "seconds, arrival to end" offset 0.5, 0
set style fill solid 1 noborder
do for [i = 1:panels] {
    at = top + 12 + (i - 1) * (each + 30)
    eval sprintf("set tmargin at screen %f; set bmargin at screen %f", \
        1 - real(at) / height, 1 - real(at + each) / height)
    set format x i == panels ? "%g" : ""
    if (i == panels) { set xlabel "requests, quickest first (%)" offset 0, 0.4 }
    if (panels > 1) { set label 2 names[i] at screen 0.5, screen 1 - real(at - 8) / height center }
    plot for [cause in causes] rows \
        using (is("box") && $2 == i && strcol(6) eq cause ? $3 + 1 : NaN):4:($3 + 0.1):($3 + 1.9):4:5 \
        with boxxyerror lc rgb wait_color(cause)
    unset label 1
    unset object
    do for [j = 1:words(causes)] { unset label 10 + j }
}
unset multiplot
