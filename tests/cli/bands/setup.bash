exec 2>&1
mkdir -p data/scenarios
ln -s "$SOURCE"/{models,hwprofiles,engines,traces} data
ln -s "$SOURCE"/scenarios/* data/scenarios
rm data/scenarios/error-bands.yaml
export SPILLWAY_DATA=$PWD/data
bands=data/scenarios/error-bands.yaml
# A band as python/spillway/papers.py writes it.
echo 'system: {figures: 5, sources: 3, least: 0.65x, most: 1.55x, systems: "full attention"}' >$bands
common=(--set model=llama-3-8b --set context=8192 --set trace=llama-3-8b-like)
show() {
    echo "$ $*"
    spillway simulate "${common[@]}" --set hardware=rtx-4090 "$@" | grep -A 1 '^sure' || true
}
