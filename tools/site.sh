#!/usr/bin/env bash
# site.sh [BUILD]: docs/, the docstrings of the Python package and its notebooks, which are executed, as one site that needs no server and is searched
# offline: BUILD/site/index.html. What makes it comes from PyPI once, into BUILD/site-env; a warning is an error.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
env=$build/site-env
source=$build/site-source
python=${PYTHON:-python3}

KW_PYTHON=wheel tools/python.sh "$build"
stamp=$("$python" --version; cat python/requirements-site.txt)
if [ "$(cat "$env/stamp" 2>/dev/null)" != "$stamp" ]; then
    rm -rf "$env"
    "$python" -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check -r python/requirements-site.txt
    echo "$stamp" >"$env/stamp"
fi
"$env/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$build"/python-wheel/*.whl

rm -rf "$source"
mkdir -p "$source"
cp -r python/site/. docs "$source"
sed -i 's#](\.\./\.\./\.\./docs/#](../docs/#g' "$source"/notebooks/*.md # docs lie beside them there
"$env/bin/python" python/site/make_api.py "$source"
# LightGBM, and a PyTorch where tools/long/torch.sh has installed one, for the notebooks that need them. What the site's environment has itself comes first.
site=$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
rm -f "$site/torch.pth"
if [ -x "$build/torch-env/bin/python" ]; then
    "$build/torch-env/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' >"$site/torch.pth"
fi
KW_LIGHTGBM=$(tools/lightgbm.sh library | cut -d ' ' -f 1)
export KW_LIGHTGBM
export XDG_CACHE_HOME="$build/python-cache" XDG_DATA_HOME="$build/python-cache/data" MPLCONFIGDIR="$env/matplotlib"
"$env/bin/python" -m sphinx -q -W --keep-going -b html -d "$build/site-trees" "$source" "$build/site"
echo "$build/site/index.html"
