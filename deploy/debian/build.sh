#!/usr/bin/env bash
# Builds a Debian package of a finished binary with dpkg-deb: build.sh [BINARY] prints the path of the package.
#
# The package holds one binary and a dozen small files, so dpkg's own tools are enough: cargo-deb would do the same
# from a table in Cargo.toml, after minutes of compiling cargo-deb itself.
#
# DEBFULLNAME and DEBEMAIL name the maintainer, DEB_REVISION the revision of the package.
set -euo pipefail
cd "$(dirname "$0")/../.."

binary=${1:-target/release/causeway}
here=deploy/debian
output=target/debian
root=$output/causeway

for tool in dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || { echo "$tool is missing; install dpkg and dpkg-dev." >&2; exit 1; }
done
[ -x "$binary" ] || { echo "There is no binary $binary; run make build." >&2; exit 1; }

version=$("$binary" --version | cut -d ' ' -f 2)-${DEB_REVISION:-1}
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-Causeway maintainers} <${DEBEMAIL:-maintainers@causeway.example}>"
# The same sources give the same package: files carry the time of the last commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

rm -rf "$root"
umask 022
install -D -m 0755 "$binary" "$root/usr/bin/causeway"
strip --strip-unneeded --remove-section=.comment "$root/usr/bin/causeway"
install -D -m 0644 deploy/systemd/causeway.service "$root/usr/lib/systemd/system/causeway.service"
install -D -m 0644 $here/causeway.sysusers "$root/usr/lib/sysusers.d/causeway.conf"

# The settings file shows every default as a comment, so that an upgrade may change a default without touching what the
# administrator has set. Only the data directory differs from the defaults.
settings=$root/etc/causeway.toml
install -D -m 0640 /dev/null "$settings"
sed -E \
    -e '1i # Settings of the causeway service. A line that starts with "#" and a name shows a default: remove the "#" to change it.\n# Restart the service afterwards: systemctl restart causeway\n' \
    -e 's|^data *=.*|data = "/var/lib/causeway"|' \
    -e '/^data *=/!s/^([a-z_]+ *=)/#\1/' \
    config.default.toml >"$settings"
if [ "$(grep '^[a-z_]* *=' "$settings")" != 'data = "/var/lib/causeway"' ]; then
    echo "config.default.toml has no line \"data = ...\", or a setting that spans lines; adapt $here/build.sh." >&2
    exit 1
fi

doc=$root/usr/share/doc/causeway
install -D -m 0644 -t "$doc" README.md $here/copyright
install -d "$root/usr/share/man/man1"
gzip -9n <$here/causeway.1 >"$root/usr/share/man/man1/causeway.1.gz"
gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
deploy/licenses.sh | gzip -9n >"$doc/third-party-licenses.gz"
gzip -9n >"$doc/changelog.Debian.gz" <<CHANGES
causeway ($version) unstable; urgency=medium

  * Built from source; changelog.gz lists the changes.

 -- $maintainer  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
CHANGES

# dpkg-shlibdeps wants a source package around it.
mkdir -p "$output/shlibs/debian"
printf 'Source: causeway\n\nPackage: causeway\nArchitecture: any\n' >"$output/shlibs/debian/control"
shlibs=$(cd "$output/shlibs" && dpkg-shlibdeps -O --ignore-missing-info "$OLDPWD/$root/usr/bin/causeway" 2>/dev/null |
    sed -n 's/^shlibs:Depends=//p')
[ -n "$shlibs" ] || { echo "dpkg-shlibdeps does not know the libraries of $binary." >&2; exit 1; }

mkdir "$root/DEBIAN"
sed -e "s|@VERSION@|$version|" -e "s|@ARCHITECTURE@|$architecture|" -e "s|@MAINTAINER@|$maintainer|" \
    -e "s|@INSTALLED_SIZE@|$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f 1)|" -e "s|@SHLIBS@|$shlibs|" \
    $here/control.in >"$root/DEBIAN/control"
echo /etc/causeway.toml >"$root/DEBIAN/conffiles"
install -m 0755 -t "$root/DEBIAN" $here/postinst $here/prerm $here/postrm
(cd "$root" && find usr -type f -exec md5sum {} + | sort -k 2 >DEBIAN/md5sums)

package=$output/causeway_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
rm -rf "$root" "$output/shlibs"
echo "$package"
