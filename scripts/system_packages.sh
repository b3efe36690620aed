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
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || [ -n "${WEFT_TEST_POSTGRES:-}" ] || missing="$missing postgresql"
if command -v dpkg >/dev/null 2>&1; then
    for font in fonts-liberation fonts-dejavu-core fonts-noto-core fonts-noto-cjk; do
        dpkg -s "$font" >/dev/null 2>&1 || missing="$missing $font"
    done
fi
root=""
[ "$(id -u)" -eq 0 ] || root="sudo -n"

# Without its windows Chromium takes a third less processor time in tests of the page. Debian has it; nothing needs it.
if ! command -v chromium-headless-shell >/dev/null 2>&1 && apt-cache show chromium-headless-shell >/dev/null 2>&1; then
    DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q chromium-headless-shell >/dev/null 2>&1
fi
[ -z "$missing" ] && exit 0

if command -v apt-get >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    if $root true 2>/dev/null; then
        DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q $missing >/dev/null 2>&1 && exit 0
        $root apt-get update -q >/dev/null 2>&1
        DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q $missing >/dev/null 2>&1 && exit 0
    fi
fi
echo "Not installed:$missing. Without bubblewrap run_command refuses to run, without chromium there are no screenshots and" \
    "no scores, without ripgrep search_files is slower; tests that need them are skipped." >&2
exit 0
