exec 2>&1
mkdir -p data/scenarios
ln -s "$SOURCE"/{models,hwprofiles,engines,traces} data
ln -s "$SOURCE"/scenarios/* data/scenarios
rm data/scenarios/error-bands.yaml
export SPILLWAY_DATA=$PWD/data
cat >data/scenarios/error-bands.yaml <<'END'
dense server tok/s: {figures: 29, sources: 8, least: 0.80x, most: 1.25x}
dense server TTFT: {figures: 77, sources: 9, least: 0.62x, most: 1.6x}
MoE server TPOT: {figures: 47, sources: 7, least: 0.50x, most: 2x}
saturated dense server TPOT: {figures: 12, sources: 3, least: 0.77x, most: 1.3x}
dense TensorRT-LLM server tok/s: {figures: 10, sources: 1, least: 0.83x, most: 1.2x}
END

server=(--set prompt=1000 --set output=50 --set limit=10 --set rate=2)
show() {
    echo "$ $*"
    spillway simulate "${server[@]}" "$@" | grep -A 1 '^sure'
}
