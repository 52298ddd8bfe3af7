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
# A tick's text is a format to gnuplot.
literal(text) = strstrt(text, "%") == 0 ? text : text[1:strstrt(text, "%")]."%".literal(text[strstrt(text, "%") + 1:*])
tick(text, x, name) = text.(text eq "" ? "" : ", ").sprintf("\"%s\" %g", literal(name), x)
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

# Lines beyond the number of colours are dashed, a new dash for each round.
dash(i) = 1 + (int(i) - 1) / |COLORS|

# Of a few lines, the first are wider, so that a line shows behind another. Of many, none is: it would hide others.
below(i) = lines - i > 4 ? 4 : lines - i
slight(i) = lines > 4 ? 1.6 : 1.6 + 0.5 * below(i)

# A legend below the plot, of `lines` names of at most `longest` characters, column by column: its height, and the
# statement for its entry `i`, `bottom` points or more above the lower edge, with the text of `names`. It is
# drawn by hand because the built-in one breaks lines differently in each format.
legend_columns(longest) = longest > 80 ? 1 : floor(780.0 / (55 + 8.8 * longest))
legend_rows(lines) = ceil(real(lines) / legend_columns(longest))
legend_height(lines) = 22 * legend_rows(lines) + 14
# Names that would take more than a third of the width stand below the plot, others beside it.
LONG = 26
legend_x(i) = 0.02 + (int(i) - 1) / int(legend_rows(lines)) / real(legend_columns(longest)) * 0.975
legend_y(i, bottom) = (bottom + 22 * (legend_rows(lines) - (int(i) - 1) % int(legend_rows(lines))) - 11) / real(height)
legend_entry(i, bottom) = sprintf("set arrow %d from screen %f, screen %f to screen %f, screen %f nohead lc rgb color(%d) " \
    ."dt dash(%d) lw 1.6; set label %d \"\" at screen %f, screen %f point pt point(%d) ps 0.8 lc rgb color(%d); " \
    ."set label %d names[%d] at screen %f, screen %f left", \
    100 + i, legend_x(i), legend_y(i, bottom), legend_x(i) + 0.036, legend_y(i, bottom), i, \
    i, 100 + i, legend_x(i) + 0.018, legend_y(i, bottom), i, i, \
    200 + i, i, legend_x(i) + 0.046, legend_y(i, bottom))

# A name that fits the width below a picture: of a longer one, the middle is left out, since runs that differ in one part
# of a long value mostly differ near its end.
fitted(text) = strlen(text) <= 70 ? text : text[1:24]."…".text[strlen(text) - 44:*]

# The text at a picture's foot, broken at spaces into lines that fit, the height of those after the first,
# and the place of the first, as a share of the picture's height.
FOOT = 78
last_space(text, at) = at < 2 ? 0 : text[at:at] eq " " ? at : last_space(text, at - 1)
cut(text) = last_space(text, FOOT + 1) > 0 ? last_space(text, FOOT + 1) : FOOT
broken(text) = strlen(text) <= FOOT ? text : text[1:cut(text)]."\n".broken(text[cut(text) + 1:*])
foot_lines(text) = strlen(text) <= FOOT ? 1 : 1 + foot_lines(text[cut(text) + 1:*])
foot_height(text) = 24 * (foot_lines(text) - 1)
foot_place(text, height) = (14.0 + foot_height(text)) / height

# A vertical range, `using x:low:(0):(high - low)`. gnuplot's yerrorbars have a hole in the middle, where nothing is marked.
WHISKER = "with vectors heads nofilled size screen 0.005,90 lw 1"
set border 3 lc rgb GREY
set tics nomirror tc rgb "black"
set grid lc rgb 0xdddddd lw 0.7 lt 1
