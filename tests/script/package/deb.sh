#!/bin/bash
# The Debian package: unpacked, its program finds the data that came with it. With TEST_DEB=1 ('make
# test-deb', which takes minutes) it is also installed in a fresh Debian of this machine's release, made from
# its mirror. There it runs its demo for a user without a home, and is removed without a trace.
set -u
cd "$(dirname "$0")/../../.." || exit 1
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash

skip() { # REASON NAME
    count=$((count + 1))
    echo "ok $count - $2 # SKIP $1"
}
echo 1..6
if ! command -v dpkg-shlibdeps >/dev/null; then
    for name in installed_files_can_be_read a_package_is_built its_files_can_be_read its_program_finds_its_data its_pages_are_there; do
        skip "'dpkg-dev' is missing" $name
    done
    skip "'make test-deb' does it" a_fresh_debian_runs_the_demo
    exit 0
fi

# As a careful superuser does, whose files nobody else may read.
installed() {
    (umask 077 && make -s install "PROGRAM=$program" DESTDIR="$scratch/deb" PREFIX=/usr) >/dev/null &&
        find "$scratch/deb/usr" ! -perm -o+r -o -type d ! -perm -o+x >"$scratch/said" && [ ! -s "$scratch/said" ]
}
build() {
    (umask 077 && tools/deb.sh "$scratch/deb") >"$scratch/said" 2>&1 &&
        dpkg-deb -x "$scratch"/spillway_*.deb "$scratch/root" &&
        [ "$(dpkg-deb -f "$scratch"/spillway_*.deb Version)" = \
            "$(sed -n 's/.*SPILLWAY_VERSION "\(.*\)"/\1/p' sim/core/version.h)" ]
}
packed() {
    dpkg-deb -c "$scratch"/spillway_*.deb | grep -Ev '^(l|drwxr-xr-x|-rw-r--r--|-rwxr-xr-x)' >"$scratch/said"
    [ ! -s "$scratch/said" ]
}
finds_data() {
    (cd / && env -i "$scratch/root/usr/bin/spillway" simulate --set model=llama-3-8b --set hardware=a40 \
        --set system=retroinfer --set context=8192 --set trace=smollm2-135m --set steps=2 --set warmup=2) \
        >"$scratch/said" 2>&1 && grep -q '^retroinfer ' "$scratch/said"
}
has_pages() {
    local share=$scratch/root/usr/share page
    for page in copyright changelog.gz CITATION.cff README.md docs/serving.md; do
        [ -s "$share/doc/spillway/$page" ] || { echo "no $page" >"$scratch/said" && return 1; }
    done
    zcat "$share/man/man1/spillway.1.gz" | grep -q '^\.SH'
}
check installed_files_can_be_read installed
check a_package_is_built build
check its_files_can_be_read packed
check its_program_finds_its_data finds_data
check its_pages_are_there has_pages

# What runs in the fresh Debian, as root.
cat >"$scratch/inside" <<'INSIDE'
set -eu
apt-get install -yqq -o APT::Install-Recommends=true /tmp/spillway.deb >/tmp/installed
dpkg --verify spillway
cd /tmp
su -s /bin/bash nobody -c '/usr/share/spillway/tools/demo.sh /tmp/demo' | tail -n 2
for made in demo.db budget.db reuse.db latency.svg hits.svg reuse.svg report.html; do
    test -s "/tmp/demo/$made"
done
dpkg --purge spillway
test ! -e /usr/share/spillway
INSIDE
fresh_debian() {
    local release
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    mmdebstrap --quiet --variant=apt --format=null \
        --customize-hook="copy-in $scratch/inside /tmp" \
        --customize-hook="cp $(echo "$scratch"/spillway_*.deb) \"\$1/tmp/spillway.deb\"" \
        --customize-hook='chroot "$1" bash /tmp/inside' "$release" - >"$scratch/said" 2>&1
}
if [ -z "${TEST_DEB:-}" ]; then
    skip "it takes minutes: 'make test-deb' does it" a_fresh_debian_runs_the_demo
elif ! command -v mmdebstrap >/dev/null; then
    skip "'mmdebstrap' is missing" a_fresh_debian_runs_the_demo
else
    check a_fresh_debian_runs_the_demo fresh_debian
    sed 's/^/# /' "$scratch/said" | tail -n 12
fi
exit $failed
