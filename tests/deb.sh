#!/usr/bin/env bash
# Installs the Debian package, starts the service, upgrades the package and removes it: deb.sh PACKAGE.
#
# All of it happens in a copy-on-write view of this machine with its own network and processes, which disappears
# afterwards. Where systemd-nspawn can boot it, systemd runs the service in its sandbox; elsewhere the unit's command
# is started by hand.
set -euo pipefail

MAX_EXPOSURE=3.0
UNIT=/usr/lib/systemd/system/causeway.service
STATE=/var/lib/causeway
SETTINGS=/etc/causeway.toml

skip() {
    echo "make test-deb: skipped, $1"
    exit 0
}

fail() {
    echo "make test-deb: $1" >&2
    exit 1
}

outside() {
    local script package root
    script=$(realpath "$0")
    package=$(realpath "$1")
    [ "$(id -u)" -eq 0 ] || skip "because installing a package needs root"
    for tool in curl dpkg ip setpriv unshare; do
        command -v $tool >/dev/null || skip "because this machine has no $tool"
    done
    unshare --mount --net --pid --fork true 2>/dev/null || skip "because namespaces cannot be created here"
    root=$(mktemp -d)
    # Mounts stay within the namespace and end with it.
    local status=0
    unshare --mount "$script" --mount "$root" "$package" || status=$?
    rmdir "$root"
    exit $status
}

# Mounts the view of this machine under $1 and runs the test in it.
mounted() {
    local root=$1 view=$1/view script
    script=$(realpath "$0")
    mount -t tmpfs causeway-test "$root"
    mkdir "$root/upper" "$root/work" "$view"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$root/upper,workdir=$root/work" "$view" 2>/dev/null ||
        skip "because an overlay file system cannot be mounted here"
    # Container images forbid packages to start services.
    rm -rf "$view$STATE" "$view$SETTINGS" "$view/usr/sbin/policy-rc.d"
    mkdir "$view/causeway-test"
    install -m 0755 "$script" "$view/causeway-test/test.sh"
    install -m 0644 "$2" "$view/causeway-test/causeway.deb"

    if command -v systemd-nspawn >/dev/null; then
        cat >"$view/etc/systemd/system/causeway-test.service" <<UNIT
[Unit]
Requires=basic.target
After=basic.target
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
ExecStart=/causeway-test/test.sh --inside
StandardOutput=file:/causeway-test/output
StandardError=inherit
UNIT
        local status=0
        systemd-nspawn --quiet --directory="$view" --private-network --register=no --keep-unit --link-journal=no \
            --resolv-conf=off --timezone=off --console=pipe --boot systemd.unit=causeway-test.service \
            </dev/null >"$root/console" 2>&1 || status=$?
        if [ -s "$view/causeway-test/output" ]; then
            cat "$view/causeway-test/output"
            exit $status
        fi
        echo "systemd cannot be booted here: $(tail -n 1 "$root/console")"
    fi
    mount --rbind /dev "$view/dev"
    unshare --net --pid --fork chroot "$view" sh -c 'mount -t proc proc /proc && ip link set lo up && exec /causeway-test/test.sh --inside'
}

is_booted() { [ -d /run/systemd/system ]; }

# Prints the values of a key in the unit, one per line.
unit_values() { sed -n "s/^$1=//p" $UNIT; }

install_package() {
    DEBIAN_FRONTEND=noninteractive dpkg --install --force-confold /causeway-test/causeway.deb >/causeway-test/dpkg 2>&1 ||
        { cat /causeway-test/dpkg; fail "dpkg cannot install the package"; }
}

expect_mode() { [ "$(stat -c '%a %U:%G' "$1")" = "$2" ] || fail "$1 is $(stat -c '%a %U:%G' "$1"), not $2"; }

log() { if is_booted; then journalctl --unit=causeway --output=cat --no-pager; else cat /causeway-test/log; fi; }

expect_answer() {
    for _ in $(seq 300); do
        if curl --fail --silent "http://$1/healthz" >/dev/null; then return; fi
        sleep 0.2
    done
    log
    fail "the server does not answer on http://$1/healthz"
}

start() {
    is_booted && return
    local command environment
    read -ra command <<<"$(unit_values ExecStart)"
    mapfile -t environment < <(unit_values Environment)
    (
        umask "$(unit_values UMask)"
        cd $STATE
        exec setpriv --reuid=causeway --regid=causeway --clear-groups --no-new-privs --bounding-set=-all \
            env --ignore-environment PATH=/usr/bin:/bin "${environment[@]}" "${command[@]}"
    ) >/causeway-test/log 2>&1 &
    server=$!
}

stop() {
    if is_booted; then
        systemctl stop causeway
        [ "$(systemctl show --property=Result --value causeway)" = success ] || fail "the server did not stop cleanly"
    else
        kill "$server"
        wait "$server" || fail "the server ended with status $? after SIGTERM"
    fi
}

inside() {
    if is_booted; then echo "started by systemd"; else echo "started by hand, because no systemd runs here"; fi
    install_package
    expect_mode $STATE "700 causeway:causeway"
    expect_mode $SETTINGS "640 root:causeway"
    if command -v systemd-analyze >/dev/null; then
        local exposure
        systemd-analyze verify --man=no $UNIT || fail "systemd-analyze verify rejects the unit"
        exposure=$(systemd-analyze security --offline=yes --no-pager $UNIT | sed -nE 's/.*exposure level.*: ([0-9.]+) .*/\1/p')
        awk "BEGIN { exit !(${exposure:-10} < $MAX_EXPOSURE) }" ||
            fail "the exposure of the unit is ${exposure:-unknown}; it must be below $MAX_EXPOSURE"
        echo "exposure of the unit: $exposure"
    else
        echo "exposure of the unit: not measured, because systemd-analyze is missing"
    fi

    start
    expect_answer 127.0.0.1:8080
    [ "$(ps -o user= -C causeway)" = causeway ] || fail "the server runs as $(ps -o user= -C causeway)"
    runuser -u causeway -- causeway --config $SETTINGS account create ada >/dev/null
    if log | grep -q "$(printf '\033')"; then fail "the log holds escape sequences"; fi
    local open
    open=$(find $STATE -perm /077)
    [ -z "$open" ] || fail "other users may read $open"

    # An upgrade keeps a setting that the administrator changed.
    sed -i 's|^#listen *=.*|listen = "127.0.0.1:8099"|' $SETTINGS
    is_booted || stop
    install_package
    start
    expect_answer 127.0.0.1:8099
    stop

    dpkg --remove causeway >/dev/null
    if [ -e /usr/bin/causeway ] || [ -e $UNIT ]; then fail "files are left after the removal"; fi
    if [ ! -e $SETTINGS ] || [ -z "$(ls $STATE)" ]; then fail "the removal deleted settings or data"; fi
    dpkg --purge causeway >/dev/null
    [ ! -e $SETTINGS ] || fail "$SETTINGS is left after the purge"
    [ -n "$(ls $STATE)" ] || fail "the purge deleted the data"
    echo "the package installs, starts, upgrades and uninstalls cleanly"
}

case ${1:-} in
--mount) mounted "$2" "$3" ;;
--inside) inside ;;
"") echo "usage: $0 PACKAGE" >&2; exit 2 ;;
*) outside "$1" ;;
esac
