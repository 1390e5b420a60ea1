# Sourced by the scripts beside it: finds Python, fills .venv, finds Java. Safe to run again, asks nothing.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
venv=$root/.venv
pip_version=26.3 # knows --group; the one that came with Python may not

step() { printf -- '-- %s\n' "$*"; }
give_up() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}
is_root_on_debian() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }
apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -q "$@" >/dev/null </dev/null; }

# A version that is on the PATH may still not run (pyenv's shims): try it.
is_good_python() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  local candidate
  for candidate in python3.13 python3.12 python3.11 python3 python; do
    if is_good_python "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

make_venv() {
  if is_good_python "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then return; fi
  local python version
  python=$(find_python) || give_up 'Python 3.11 or later is needed and was not found: install it and run this again'
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    is_root_on_debian || give_up "$python has no venv module: install python$version-venv and run this again"
    step "installing python$version-venv"
    apt-get update -q >/dev/null </dev/null
    apt_install "python$version-venv" || apt_install python3-venv
  fi
  step "making .venv with Python $version"
  rm -rf "$venv"
  "$python" -m venv "$venv"
}

# What is installed is what these files say; the stamp remembers which files it was.
wanted_stamp() {
  "$venv/bin/python" - "$pip_version" pyproject.toml constraints.txt <<'PYTHON'
import hashlib, pathlib, sys

pip, *files = sys.argv[1:]
print(pip, sys.version.split()[0], pathlib.Path.cwd(), *(hashlib.sha256(pathlib.Path(f).read_bytes()).hexdigest() for f in files))
PYTHON
}

install_packages() {
  local stamp=$venv/.rheostat-installed wanted
  wanted=$(wanted_stamp)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return; fi
  step 'installing packages into .venv (once; some minutes on a slow line)'
  rm -f "$stamp"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check "pip==$pip_version"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -c constraints.txt --build-constraint constraints.txt \
    -e '.[spark,learn]' --group tests --group lint --group docs
  printf '%s\n' "$wanted" >"$stamp"
}

is_good_java() {
  local told
  told=$("$1" -version 2>&1) || return 1
  [[ $told =~ version\ \"([0-9]+) ]] && [ "${BASH_REMATCH[1]}" -ge 17 ]
}

# Spark takes the java of JAVA_HOME, else the one on the PATH.
need_java() {
  if [ -n "${JAVA_HOME:-}" ]; then
    if is_good_java "$JAVA_HOME/bin/java"; then return; fi
    step "JAVA_HOME has no Java 17 or later; looking on the PATH instead"
    unset JAVA_HOME
  fi
  if is_good_java java; then return; fi
  is_root_on_debian || give_up 'Java 17 or later is needed: install it (such as openjdk-17-jre-headless) or set JAVA_HOME, and run this again'
  step 'installing Java'
  apt-get update -q >/dev/null </dev/null
  apt_install openjdk-17-jre-headless || apt_install default-jre-headless
  is_good_java java || give_up 'the Java that was installed is older than 17: install a later one and run this again'
}

make_venv
install_packages
export PATH="$venv/bin:$PATH"
