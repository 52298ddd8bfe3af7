# Settings that all pictures share. A KIND.gp loads them after it has set `rows`, the file to read, and `format`, the
# picture's format. Rows are `kind y a b c text name`, tab-separated.
#
# Colours are those of Okabe and Ito, which colour-blind people can distinguish; further lines use dark shades of them.

set datafile separator tab
set datafile commentschars ""
set encoding utf8

is(kind) = strcol(1) eq kind

# The statement that begins a picture of this size in points (1/100 inch on paper); to be passed to eval.
start(width, height) = \
    format eq "svg" ? sprintf("set terminal svg size %d,%d noenhanced background 'white' font 'Helvetica,16'", width, height) : \
    format eq "png" ? sprintf("set terminal pngcairo size %d,%d noenhanced font 'Sans,12' fontscale 2 linewidth 2 pointscale 2", 2 * width, 2 * height) : \
    sprintf("set terminal pdfcairo size %fin,%fin noenhanced font 'Sans,12' fontscale 0.8", width / 100.0, height / 100.0)

# A number with three significant digits.
three(x) = sprintf(x < 9.995 ? "%.2f" : x < 99.95 ? "%.1f" : "%.0f", x)

# Ticks of a logarithmic axis from `lo` to `hi`, for `set xtics (...)`: at 1, 2 and 5 of each decade, or at each decade
# if there are many. gnuplot's own are at decades alone, of which a short axis has one or none.
spelled(x, hi) = hi < 1e5 && x >= 1e-3 ? sprintf("%g", x) : gprintf("%.0s %c", x)
tick(text, x, name) = text.(text eq "" ? "" : ", ").sprintf("\"%s\" %g", name, x)
climb(x, m, lo, hi, named, text) = x > hi * 1.0001 ? text : climb( \
    x * (hi / lo >= 1000 ? 10 : m == 2 ? 2.5 : 2), hi / lo >= 1000 ? 1 : m == 1 ? 2 : m == 2 ? 5 : 1, lo, hi, named, \
    x < lo * 0.9999 ? text : tick(text, x, named ? spelled(x, hi) : ""))
log_ticks(lo, hi) = climb(10 ** floor(log10(lo)), 1, real(lo), real(hi), 1, "")
log_marks(lo, hi) = climb(10 ** floor(log10(lo)), 1, real(lo), real(hi), 0, "")

WIDTH = 800
GREY = 0x666666
array COLORS[7] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x222222]
color(i) = COLORS[1 + (int(i) + |COLORS| - 1) % |COLORS|]
array POINTS[6] = [7, 5, 9, 13, 11, 6]
point(i) = POINTS[1 + (int(i) + |POINTS| - 1) % |POINTS|]

# The first of `lines` lines are wider, so that a line shows behind another.
below(i) = lines - i > 4 ? 4 : lines - i
wide(i) = 2 + 1.2 * below(i)
large(i) = 0.8 + 0.4 * below(i)

set border 3 lc rgb GREY
set tics nomirror tc rgb "black"
set grid lc rgb 0xdddddd lw 0.7 lt 1
