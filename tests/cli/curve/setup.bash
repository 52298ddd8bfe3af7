exec 2>&1

# Ids as little-endian numbers.
ids() { printf "$(awk '{ printf "\\x%02x\\x%02x\\x%02x\\x00", $1 % 256, $1 / 256 % 256, $1 / 65536 }')"; }

# A B A C B in two blocks: LRU misses m m h m m, FIFO m m h m h, OPT m m h m h.
printf '%s\n' 70000 8 70000 9 8 | ids >hand.u32

fails() { spillway curve "$@" || echo "=> $?"; }
