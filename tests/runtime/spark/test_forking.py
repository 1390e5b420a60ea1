"""A fork of the server is to Spark what a new Python would have been: arguments, streams, exit code, life and death."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rheostat.runtime.spark.forked_python import start_fork_server

TELL = """
import json, os, sys
print(json.dumps([__name__, sys.argv[1:], os.environ["GREETING"], os.getcwd(), sys.stdin.read(), os.getpid()]))
sys.stdout.flush()
print("an error", file=sys.stderr)
sys.exit(7)
"""
WAIT = """
import os, time
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.fixture
def python():
    found = start_fork_server()
    assert found != sys.executable
    return found


def run(python, tmp_path, source, **how):
    (tmp_path / "a_module.py").write_text(source)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "GREETING": "hello"}
    return subprocess.Popen(
        [python, "-m", "a_module", "one", "two"],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone(pid):
    deadline = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def test_a_fork_is_run_as_the_main_module_with_its_own_arguments_streams_and_exit_code(python, tmp_path):
    process = run(python, tmp_path, TELL)
    output, errors = process.communicate("some input", timeout=30)
    name, arguments, greeting, folder, given, pid = json.loads(output)
    assert (name, arguments, greeting, folder, given) == (
        "__main__",
        ["one", "two"],
        "hello",
        str(tmp_path),
        "some input",
    )
    assert pid != process.pid
    assert errors == "an error\n"
    assert process.returncode == 7


def test_what_raises_tells_its_traceback_and_fails(python, tmp_path):
    process = run(python, tmp_path, "raise ValueError('broken')")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "ValueError: broken" in errors


@pytest.mark.parametrize("how", ["BrokenPipeError", "ConnectionResetError", "EOFError"])
def test_when_spark_hangs_up_the_fork_ends_without_a_word(python, tmp_path, how):
    process = run(python, tmp_path, f"raise {how}")
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (1, "")


def test_libraries_are_there_before_the_fork(python, tmp_path):
    process = run(python, tmp_path, "import sys; print('pyarrow' in sys.modules, 'pyspark.worker' in sys.modules)")
    assert process.communicate(timeout=30)[0] == "True True\n"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_when_spark_ends_the_process_it_started_the_fork_ends(python, tmp_path, end):
    with run(python, tmp_path, WAIT) as process:
        pid = int(process.stdout.readline())
        process.send_signal(end)
    assert gone(pid)


def test_a_fork_that_is_killed_takes_its_launcher_along(python, tmp_path):
    with run(python, tmp_path, WAIT) as process:
        os.kill(int(process.stdout.readline()), signal.SIGKILL)
        assert process.wait(20) == 128 + signal.SIGKILL


def test_a_fork_does_not_keep_another_ones_pipes_open(python, tmp_path):
    (tmp_path / "other").mkdir()
    first = run(python, tmp_path, "import sys; print(len(sys.stdin.read()))")
    with run(python, tmp_path / "other", WAIT) as second:
        second.stdout.readline()
        assert first.communicate("123", timeout=20)[0] == "3\n"
        second.kill()


def test_what_is_no_module_is_plain_python(python):
    assert subprocess.check_output([python, "-c", "print(6 * 7)"], text=True) == "42\n"


def test_when_the_owner_is_killed_everything_ends(tmp_path):
    (tmp_path / "a_module.py").write_text(WAIT)
    owner = """
import subprocess, os, sys
from rheostat.runtime.spark.forked_python import start_fork_server
python = start_fork_server()
child = subprocess.Popen([python, "-m", "a_module"], stdout=subprocess.PIPE)
print(child.stdout.readline().decode().strip(), python, flush=True)
import time; time.sleep(60)
"""
    path = os.pathsep.join([str(tmp_path), *(part for part in sys.path if part)])
    command, environment = [sys.executable, "-c", owner], {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        pid, python = process.stdout.readline().split()
        process.kill()
    assert gone(int(pid))
    deadline = time.monotonic() + 20
    while Path(python).parent.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(python).parent.exists(), "nothing is left behind"


DEEP = """
import os, subprocess, sys
from rheostat.runtime.spark.forked_python import start_fork_server

python = start_fork_server()
ended = subprocess.run([python, "-m", "a_module", "one", "two"], input="some input", text=True, check=False)
print(python != sys.executable, ended.returncode, flush=True)
"""


def test_the_path_of_its_folder_may_be_longer_than_that_of_a_socket_and_nothing_is_left_behind(tmp_path):
    (tmp_path / "a_module.py").write_text(TELL)
    deep = tmp_path / ("long" * 20) / ("longer" * 20)
    deep.mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "GREETING": "hello", "TMPDIR": str(deep)}
    command = [sys.executable, "-c", DEEP]
    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    told, summary = ended.stdout.splitlines()
    assert json.loads(told)[:3] == ["__main__", ["one", "two"], "hello"]
    assert summary == "True 7"
    assert list(deep.iterdir()) == []
