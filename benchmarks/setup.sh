#!/bin/sh
# Makes the environment of the benchmarks, .venv-bench, with the pinned packages and Heald itself.
# The first argument is a Python that has uv. A package that cannot be installed is left out: its row then says so.
set -eu

cd "$(dirname "$0")/.."
python=${1:-python3}
target=.venv-bench/bin/python
export UV_PYTHON_DOWNLOADS=never

install() {
    "$python" -m uv pip install --quiet --compile-bytecode --python "$target" "$@"
}

"$python" -m uv venv --quiet --allow-existing --python "$python" .venv-bench
if ! install --requirements benchmarks/requirements.txt; then
    while read -r pinned; do
        install --no-deps "$pinned" || echo "not installed: $pinned" >&2
    done < benchmarks/requirements.txt
fi
set --
for package in packages/*/; do
    set -- "$@" --editable "$package"
done
install "$@"
