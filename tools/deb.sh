#!/bin/bash
# Make a Debian package of the installation in the folder $1/usr: a file spillway_VERSION_ARCHITECTURE.deb beside that
# folder. The program says its version, and dpkg-shlibdeps which packages its libraries come from.
#
# The same commit gives the same bytes: owners, modes and times are those of the package, not of the folder.
set -eu
cd "$(dirname "$0")/.."
root=$(realpath "$1")
version=$("$root/usr/bin/spillway" --version)
version=${version#spillway }
version=${version%%+*} # without the hash of what computes
architecture=$(dpkg --print-architecture)
package=$(dirname "$root")/spillway_${version}_$architecture.deb
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
unset DEB_BUILD_OPTIONS

strip --strip-unneeded "$root"/usr/bin/*
gzip -9n "$root"/usr/share/man/man1/*.1
install -Dm644 tools/deb/copyright "$root/usr/share/doc/spillway/copyright"
gzip -9n <CHANGELOG.md >"$root/usr/share/doc/spillway/changelog.gz"
install -m644 CITATION.cff "$root/usr/share/doc/spillway"
for page in README.md docs; do
    ln -s "../../spillway/$page" "$root/usr/share/doc/spillway/$page"
done

# Both tools read the files of a source package, in the folder where they run.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/debian" "$root/DEBIAN"
cp tools/deb/control "$scratch/debian"
printf 'spillway (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' "$version" \
    "$(sed -n 's/^Maintainer: //p' tools/deb/control)" "$(date -uRd "@$SOURCE_DATE_EPOCH")" >"$scratch/debian/changelog"
(cd "$scratch" && dpkg-shlibdeps "$root"/usr/bin/* && dpkg-gencontrol "-P$root")
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod -R u+rwX,go+rX,go-w "$root"

# Traces are compressed already: xz would take 30 times as long and save 2 %.
dpkg-deb --build -Zgzip -z1 --root-owner-group "$root" "$package"
