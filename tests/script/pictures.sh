#!/bin/bash
# Each picture of plots/examples is what its command draws today.
#
# NAME.rows holds what gnuplot was given for NAME.svg. Rows do not depend on gnuplot's version, so the command
# must give the same again. The picture is drawn again from its rows, and compared where gnuplot is of the
# version that the picture names. UPDATE=1 rewrites both.
#
# Two commands need files from elsewhere, or minutes. Only their pictures are compared, with rows that were
# kept; ELSEWHERE=FOLDER runs them, too: conversation_trace.jsonl is Mooncake's (FAST25-release/traces), and
# requests.jsonl that of LLMServingSim for an RTX 4090 (bench/examples).
set -eu
cd "$(dirname "$0")/../.."
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cache"
export XDG_CACHE_HOME=${SHARED_CACHE:-$scratch/cache} # answers are the same without it, and take longer
export SPILLWAY_DATA=$PWD
elsewhere=${ELSEWHERE:+$(realpath "$ELSEWHERE")}
examples=$PWD/plots/examples

# A gnuplot that keeps its rows, without names that have the program in them: `gnuplot -c SCRIPT ROWS PICTURE
# FORMAT FOLDER`.
gnuplot=$(command -v gnuplot)
mkdir "$scratch/bin"
printf '#!/bin/sh\nsed "s/\\t[0-9a-f]\\{16\\}\\t/\\tRUN\\t/" "$3" >"%s/rows"\nexec "%s" "$@"\n' "$scratch" "$gnuplot" >"$scratch/bin/gnuplot"
chmod +x "$scratch/bin/gnuplot"
version="Produced by GNUPLOT $(gnuplot --version | sed 's/gnuplot \([0-9.]*\) patchlevel \([^ ]*\).*/\1 patchlevel \2/') "

drawn=() # NAME, each checked
failed=0
report() { # NAME WHAT: what the file `difference` holds speaks against it
    [ -s "$scratch/difference" ] || { echo "ok - $1: $2"; return 0; }
    head -20 "$scratch/difference" | sed 's/^/# /'
    echo "not ok - $1: $2"
    failed=1
}

# NAME: are the rows those of the picture?
compare_rows() {
    [ "${UPDATE:-0}" = 0 ] || { mv "$scratch/rows" "$examples/$1.rows"; return 0; }
    diff -u "$examples/$1.rows" "$scratch/rows" >"$scratch/difference" 2>&1 || true
    report "$1" 'its command gives the rows'
}

# NAME KIND: does gnuplot draw the picture from its rows?
compare_picture() {
    gnuplot -c "plots/$2.gp" "$examples/$1.rows" "$scratch/$1.svg" svg "$PWD/plots"
    [ "${UPDATE:-0}" = 0 ] || { mv "$scratch/$1.svg" "$examples/$1.svg"; return 0; }
    : >"$scratch/difference"
    if grep -qF "$version" "$examples/$1.svg"; then
        diff -u "$examples/$1.svg" "$scratch/$1.svg" >"$scratch/difference" || true
    fi
    report "$1" 'its rows give the picture'
    sed "s/^\($titles\t\([^\t]*\t\)\{4\}[^\t]*\)/\1$signs/" "$examples/$1.rows" >"$scratch/signs"
    gnuplot -c "plots/$2.gp" "$scratch/signs" "$scratch/signs.svg" svg "$PWD/plots" 2>"$scratch/difference" || true
    grep -qF "9%f%n%@x_^{}~&amp;" "$scratch/signs.svg" || echo "no text is 9%f%n%@x_^{}~&" >>"$scratch/difference"
    report "$1" 'no sign in a text is obeyed'
}
# Signs that gnuplot obeys in a format, in enhanced text or in a macro, and the rows whose text is shown.
signs='9%f%n%@x_^{}~\&'
titles='\(title\|source\|line\|tick\|bar\|entry\|panel\)'

# NAME KIND [PLOT OPTION...]: the database NAME.db gives the picture.
picture() {
    local name=$1 kind=$2
    shift 2
    PATH=$scratch/bin:$PATH "$program" plot "$kind" "$scratch/$name.db" -o "$scratch/$name.svg" "$@"
    compare_rows "$name"
    compare_picture "$name" "$kind"
    drawn+=("$name")
}

# NAME COMMAND...: make the database NAME.db.
study() {
    local name=$1
    shift
    "$program" "$@" --db "$scratch/$name.db" >"$scratch/said" 2>&1 || { cat "$scratch/said"; exit 1; }
}
# NAME KIND: the picture as it was kept.
kept() {
    compare_picture "$1" "$2"
    drawn+=("$1")
}

llama=(--set model=llama-3-8b --set hardware=a40 --set context=128K)
study latency simulate scenarios/demo.yaml
picture latency latency
study draws simulate "${llama[@]}" --set trace=smollm2-135m --set 'sweep.system=[fullattn, retroinfer-10pct, clo, litecache]' \
    --replications 100
picture draws draws
study ablate ablate "${llama[@]}" --set system=litecache
picture ablate ablate
study whatif whatif --over budget "${llama[@]}" --set system=retroinfer-10pct
picture whatif whatif
study front plan --pareto --over 'batch=[1, 2, 4, 8]' --allow lossy,paper "${llama[@]}" --set context=32K \
    --system vllm,retroinfer-10pct,litecache
picture front pareto
study hits simulate scenarios/budget.yaml
picture hits hits
study reuse simulate scenarios/reuse.yaml
picture reuse reuse
study mass simulate --set model=smollm2-135m --set hardware=a40 --set context=16K --set warmup=32 \
    --set trace=smollm2-135m-return --set 'sweep.system=[fullattn, retroinfer-10pct, h2o, snapkv, streaming-llm]'
picture mass mass
study growth simulate --set model=gpt-neox-12b --set hardware=rtx-a6000 --set batch=1 --set context=16384 \
    --set grows=16256 --set 'sweep.system=[hgca, fullattn]'
picture growth growth
study drafts simulate --set model=llama-3.1-8b --set hardware=h100-sxm --set context=32K \
    --set 'sweep.system=[vllm, hisparse]' --set 'sweep.batch=[1, 2, 4, 8, 12]' --set "sweep.drafts=[{count: 0}$(
        printf ', {count: 3, method: eagle3, acceptance: %s}' 40% 60% 80%)]"
picture drafts drafts
study curves curve smollm2-135m --policy opt --policy s3fifo --policy lru --policy fifo --policy '{name: qsac, eta: 0.6}' \
    --sizes 5%,10%,15%,20%,30%,50% --by head
picture curves curves
cp "$scratch/curves.db" "$scratch/spread.db"
picture spread spread --only policy=lru --only policy=fifo --only policy=qsac

if [ -n "$elsewhere" ]; then
    study offload-served whatif --over 'system=[two-tier, hisparse, litecache],rate=[0.025, 0.05, 0.1, 0.15, 0.2, 0.3]' \
        --set system=two-tier --set workload=documents --set model=llama-3.1-8b --set hardware=a40 \
        --set mechanisms.prefix=two-tier --set max_sequences=16 --set trace=smollm2-135m --set steps=4 --set warmup=16 \
        --set 'slo={ttft_ms: 30000, tpot_ms: 100}'
    picture offload-served whatif
    study mooncake whatif --over host_memory=64GiB:16TiB --points 9 --set timed=no --set system=two-tier \
        --set "workload=$elsewhere/conversation_trace.jsonl" --set model=llama-3.1-70b --set hardware=h100-sxm \
        --set tensor_parallel=4
    picture mooncake whatif
else
    kept offload-served whatif
    kept mooncake whatif
fi

for name in '50%f' '9%n'; do
    mkdir "$scratch/$name"
    cp models/smollm2-135m.json "$scratch/$name/config.json"
done
(cd "$scratch" && study ticks whatif --over 'model=[./50%f, ./9%n]' --set hardware=a40 --set system=vllm --set context=4K \
    --set batch=4)
"$program" plot whatif "$scratch/ticks.db" -o "$scratch/ticks.svg" >"$scratch/difference" 2>&1 || true
grep -q '>./50%f<' "$scratch/ticks.svg" || echo 'no tick is "./50%f"' >>"$scratch/difference"
report ticks 'a value with a % is a tick'

for file in "$examples"/*; do
    name=$(basename "${file%.*}")
    [[ " ${drawn[*]} " == *" $name "* ]] || echo "$file: no command draws it"
done >"$scratch/difference"
report 'plots/examples' 'each picture has a command'
grep -l "<use [^>]*color='#FFFFFF'" "$examples"/*.svg >"$scratch/difference" || true
report 'plots/examples' 'no error bar has a white hole'
exit $failed
