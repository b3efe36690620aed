#!/bin/sh
# Installs the system packages that some tools and tests need, where they are missing and the machine allows it.
# What cannot be installed is named, and what needs it says so or is skipped.
set -u

missing=""
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v rg >/dev/null 2>&1 || missing="$missing ripgrep"
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
command -v nginx >/dev/null 2>&1 || [ -x /usr/sbin/nginx ] || missing="$missing nginx-light"
command -v tmux >/dev/null 2>&1 || missing="$missing tmux"
command -v strace >/dev/null 2>&1 || missing="$missing strace"
command -v pgbouncer >/dev/null 2>&1 || [ -x /usr/sbin/pgbouncer ] || missing="$missing pgbouncer"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || [ -n "${HEALD_TEST_POSTGRES:-}" ] || missing="$missing postgresql"
if command -v dpkg >/dev/null 2>&1; then
    for font in fonts-liberation fonts-dejavu-core fonts-noto-core fonts-noto-cjk; do
        dpkg -s "$font" >/dev/null 2>&1 || missing="$missing $font"
    done
fi

root=""
[ "$(id -u)" -eq 0 ] || root="sudo -n"

can_install() {
    command -v apt-get >/dev/null 2>&1 && $root true 2>/dev/null
}

install() {
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$@" >/dev/null 2>&1
}

# shellcheck disable=SC2086
if [ -n "$missing" ] && can_install; then
    if install $missing || { $root apt-get update -q >/dev/null 2>&1; install $missing; }; then
        missing=""
    fi
fi
if [ -n "$missing" ]; then
    echo "Not installed:$missing. Without bubblewrap run_command refuses to run, without chromium there are no" \
        "screenshots and no scores, without ripgrep search_files is slower; tests that need them are skipped." >&2
fi

# Without its windows Chromium takes a third less processor time in tests of the page. Debian has it; nothing needs it,
# so nothing is said where it cannot be had.
shell=chromium-headless-shell
if ! command -v $shell >/dev/null 2>&1 && can_install && apt-cache show $shell >/dev/null 2>&1; then
    install $shell
fi
exit 0
