#!/bin/sh
# Prints the Python that `.venv` is made with: python3, or the one of the system if it has the same version and python3
# was compiled without profile-guided optimisation. Such a Python, as pyenv makes by default, needs about a sixth more time.
set -u

version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || exec echo python3
system=/usr/bin/python$version
case $(command -v python3) in
    /usr/bin/*) exec echo python3 ;;
esac
is_optimised='import sys, sysconfig; sys.exit("--enable-optimizations" not in (sysconfig.get_config_var("CONFIG_ARGS") or ""))'
if ! python3 -c "$is_optimised" && [ -x "$system" ] && "$system" -c 'import ensurepip, venv' 2>/dev/null; then
    exec echo "$system"
fi
echo python3
