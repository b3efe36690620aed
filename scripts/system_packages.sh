#!/bin/sh
# Installs the system packages that some tools and tests need, where they are missing and the machine allows it.
# What cannot be installed is named, and what needs it says so or is skipped.
set -u

missing=""
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v rg >/dev/null 2>&1 || missing="$missing ripgrep"
[ -z "$missing" ] && exit 0

if command -v apt-get >/dev/null 2>&1; then
    root=""
    [ "$(id -u)" -eq 0 ] || root="sudo -n"
    # shellcheck disable=SC2086
    if $root true 2>/dev/null; then
        DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q $missing >/dev/null 2>&1 && exit 0
        $root apt-get update -q >/dev/null 2>&1
        DEBIAN_FRONTEND=noninteractive $root apt-get install -y -q $missing >/dev/null 2>&1 && exit 0
    fi
fi
echo "Not installed:$missing. Without bubblewrap run_command refuses to run and its tests are skipped;" \
    "without ripgrep search_files is slower." >&2
exit 0
