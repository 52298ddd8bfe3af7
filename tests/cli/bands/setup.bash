exec 2>&1
mkdir -p data/scenarios
ln -s "$SOURCE"/{models,hwprofiles,engines,traces} data
ln -s "$SOURCE"/scenarios/* data/scenarios
rm data/scenarios/error-bands.yaml
export SPILLWAY_DATA=$PWD/data
bands=data/scenarios/error-bands.yaml
# A band of three machines, as python/spillway/papers.py writes it.
echo 'bandwidth-bound: {rows: 5, factor: 1.55x, machines: "a40-no-ecc, h100-sxm, rtx-4090", systems: "full attention"}' >$bands
common=(--set model=llama-3-8b --set context=8192 --set trace=llama-3-8b-like)
show() {
    echo "$ $*"
    spillway simulate "${common[@]}" "$@" | grep -A 1 '^sure' || true
}
