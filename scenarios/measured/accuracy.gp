# Measured figures of servers over predicted ones, a point a figure: `make accuracy` calls it with `points`, the file
# that python/spillway/papers.py writes, and `picture`, the SVG to make.
set terminal svg size 900,340 noenhanced background 'white' font 'Helvetica,14'
set output picture
set datafile separator tab
set logscale xy
set format '%g'
set multiplot layout 1,3 title 'Measured over predicted; lines: equal, and 25 % to each side'
set grid lc rgb '#dddddd'
array FIGURE[3] = ['TTFT', 'TPOT', 'tok/s']
array UNIT[3] = ['ms', 'ms', 'a second']
array SCALE[3] = [1e6, 1e6, 1]
array LOW[3] = [5, 2, 10]
array HIGH[3] = [1e6, 1000, 1e5]
do for [i = 1:3] {
    set title FIGURE[i].', '.UNIT[i]
    set xlabel 'predicted'
    set ylabel i == 1 ? 'measured' : ''
    set xrange [LOW[i]:HIGH[i]]
    set yrange [LOW[i]:HIGH[i]]
    set key top left
    if (i > 1) { unset key }
    plot x lc rgb '#888888' lw 1.5 notitle, x * 1.25 lc rgb '#bbbbbb' notitle, x / 1.25 lc rgb '#bbbbbb' notitle, \
        points using (strcol(1) eq FIGURE[i] && strcol(2) eq 'dense' ? $3 / SCALE[i] : NaN):($4 / SCALE[i]) \
            pt 7 ps 0.4 lc rgb '#0072b2' title 'dense', \
        points using (strcol(1) eq FIGURE[i] && strcol(2) eq 'MoE' ? $3 / SCALE[i] : NaN):($4 / SCALE[i]) \
            pt 9 ps 0.5 lc rgb '#d55e00' title 'experts'
}
unset multiplot
