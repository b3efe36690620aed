#!/bin/sh
# Tries Heald as a new user would: a copy of what is committed, an empty home, no settings of this user, nothing installed
# but Python. Builds all wheels, runs an agent with heald-core alone in an empty environment, then installs everything into
# another and builds a page from a picture without a key and without a network. Prints each step; stops at the first failure.
#
#   scripts/fresh_machine.sh           the wheels only
#   scripts/fresh_machine.sh --make    also `make made`, and `make run` until its page answers, in the copy
set -eu

cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'if [ -s "$place/group" ]; then kill -- "-$(cat "$place/group")" || true; fi; rm -rf "$place"' EXIT
mkdir "$place/home" "$place/checkout"
git archive HEAD | tar -x -C "$place/checkout"

# How packages are reached (indexes, proxies, certificates) is the machine's; all else of the surroundings is left out.
index=$(python3 -m pip config list 2>/dev/null | sed -n "s/^global\.\([a-z-]*\)='\(.*\)'$/\1 = \2/p")
mkdir -p "$place/home/.config/pip"
printf '[global]\n%s\n' "$index" >"$place/home/.config/pip/pip.conf"
as_a_stranger() (
    for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
        case "$name" in
        PATH | PIP_* | UV_* | NPM_* | npm_config_* | NODE_EXTRA_CA_CERTS | SSL_* | REQUESTS_CA_BUNDLE | *_proxy | *_PROXY) ;;
        *) unset "$name" ;;
        esac
    done
    export HOME="$place/home" LANG=C.UTF-8 UV_PYTHON_DOWNLOADS=never
    exec "$@"
)
step() { echo "== $*"; }
installed() { # bytes of what was installed; bytecode, which Python adds by itself, does not count
    find "$1"/lib/python3*/site-packages -type f ! -name "*.pyc" -exec cat {} + | wc -c
}

cd "$place/checkout"
step "all wheels"
as_a_stranger python3 -m venv "$place/build"
as_a_stranger "$place/build/bin/python" -m pip install --quiet --disable-pip-version-check build uv
for package in packages/*/; do
    as_a_stranger "$place/build/bin/python" -m build --installer uv --wheel --outdir "$place/dist" "$package" >"$place/log" 2>&1 \
        || { cat "$place/log"; exit 1; }
done
ls -l "$place/dist" | awk 'NR > 1 { print $9, $5 }'
empty_environment() { as_a_stranger python3 -m venv --without-pip "$1"; }
install_into() { # environment, then what; our own names come from the wheels that were just built
    environment=$1
    shift
    as_a_stranger "$place/build/bin/python" -m pip --python "$environment/bin/python" install --quiet \
        --disable-pip-version-check --find-links "$place/dist" "$@"
}

step "heald-core alone, in an empty environment"
empty_environment "$place/core"
install_into "$place/core" "$place"/dist/heald_core-*.whl
cd "$place/home"
as_a_stranger "$place/core/bin/python" -W error "$place/checkout/examples/tool.py"
core=$(installed "$place/core")
echo "installed: $((core / 100000 * 100)) kB"
test "$core" -lt 25000000 || { echo "heald-core is to install under 25 MB."; exit 1; }

step "everything, in an empty environment"
empty_environment "$place/all"
install_into "$place/all" "$place"/dist/*.whl
echo "installed: $(($(installed "$place/all") / 1000000)) MB"
as_a_stranger "$place/all/bin/heald" --version
as_a_stranger "$place/all/bin/heald" doctor || true
as_a_stranger "$place/all/bin/heald" build "$place/checkout/examples/shot.png" -o page --stack html_css
test -s page/1/index.html

if [ "${1:-}" = "--make" ]; then
    cd "$place/checkout"
    step "make made"
    as_a_stranger make made
    step "make run"
    # A group of its own, which ends as a whole.
    as_a_stranger setsid sh -c 'echo $$ >"$0" && exec make run' "$place/group" >"$place/served" 2>&1 &
    server=$!
    for _ in $(seq 120); do
        if grep -q "http://" "$place/served" || ! kill -0 "$server" 2>/dev/null; then break; fi
        sleep 1
    done
    cat "$place/served"
    address=$(grep -o "http://[^ ]*" "$place/served" | head -n 1)
    python3 -c 'import sys, urllib.request as u; assert b"<!doctype html>" in u.urlopen(sys.argv[1]).read().lower()' "$address"
fi
step "all is well"
