exec 2>&1
mkdir -p data/scenarios
ln -s "$SOURCE"/{models,hwprofiles,engines,traces} data
ln -s "$SOURCE"/scenarios/* data/scenarios
rm data/scenarios/error-bands.yaml
export SPILLWAY_DATA=$PWD/data
cat >data/scenarios/error-bands.yaml <<'END'
dense tok/s: {figures: 29, sources: 8, least: 0.80x, most: 1.25x}
dense TTFT: {figures: 77, sources: 9, least: 0.62x, most: 1.6x}
other tok/s: {figures: 106, sources: 14, least: 0.77x, most: 1.3x}
other TPOT: {figures: 76, sources: 9, least: 0.50x, most: 2x}
other TTFT: {figures: 41, sources: 9, least: 0.55x, most: 1.8x}
END

server=(--set prompt=1000 --set output=50 --set limit=10 --set rate=2)
show() {
    echo "$ $*"
    spillway simulate "${server[@]}" "$@" | grep -A 1 '^sure'
}
