scenario=(--set model=smollm2-135m --set hardware=a40 --set context=3840 --set steps=4)
exec 2>&1
kinds() { # of these files
    for picture in "$@"; do
        head -c 5 "$picture" | tr -c '[:print:]' '?'
        echo " $picture"
    done
}
