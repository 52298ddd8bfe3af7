exec 2>&1
serve=(--set model=smollm2-135m --set hardware=a40 --set system=vllm --set prompt=500 --set output=20 --set limit=5
    --set rate=1)
# A data folder whose engines the case may change.
own_engines() {
    mkdir data
    ln -s "$SOURCE"/{models,hwprofiles,scenarios,traces} data
    cp -r "$SOURCE/engines" data
    export SPILLWAY_DATA=$PWD/data
}
