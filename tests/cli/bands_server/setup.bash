exec 2>&1
mkdir -p data/scenarios
ln -s "$SOURCE"/{models,hwprofiles,engines,traces} data
ln -s "$SOURCE"/scenarios/* data/scenarios
rm data/scenarios/error-bands.yaml
export SPILLWAY_DATA=$PWD/data
cat >data/scenarios/error-bands.yaml <<'END'
dense server tok/s: {rows: 5, factor: 1.25x, machines: "h100-sxm, rtx-4090"}
dense server TTFT: {rows: 5, factor: 1.6x, machines: "h100-sxm, rtx-4090"}
dense server TTFT (PCIe): {rows: 2, factor: 1.5x, machines: "l40s"}
dense server TPOT (PCIe): {rows: 2, factor: 1.2x, stands: no, median: 1.1x, below: 0, machines: "rtx-4090"}
MoE server TPOT: {rows: 5, factor: 2x, machines: "8 b200"}
saturated dense server TPOT: {rows: 5, factor: 1.3x, machines: "rtx-4090"}
END

server=(--set prompt=1000 --set output=50 --set limit=10 --set rate=2)
show() {
    echo "$ $*"
    spillway simulate "${server[@]}" "$@" | grep -A 1 '^sure'
}
