"""The first project of a new user, command by command, in a folder without a clone."""

import csv
import json
import time
from collections import Counter
from pathlib import Path

from tests.install.environment import Environment

PRICES = {"apple": 40, "bread": 320, "cheese": 540, "date": 15, "egg": 35, "fig": 60}
ORDERS = "import json; from shop.answer import orders_until; print(json.dumps(orders_until(1240)))"


def assert_first_project_runs(environment: Environment, folder: Path, *, within_seconds: float) -> None:
    """`init`, its test, its run, and the results of that, compared with a computation of our own."""
    made = environment.run("rheostat", "init", "shop", cwd=folder)
    assert made.returncode == 0, made.stderr
    project = folder / "shop"
    tested = environment.run("python", "-m", "pytest", "-q", cwd=project, timeout=300)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    began = time.monotonic()
    ran = environment.run("rheostat", "run", "run.yaml", cwd=project, timeout=4 * within_seconds)
    seconds = time.monotonic() - began
    assert ran.returncode == 0, ran.stdout + ran.stderr
    saved = environment.run("rheostat", "results", "--latest-by", "product", "--output", "results.csv", cwd=project)
    assert saved.returncode == 0, saved.stderr
    with (project / "results.csv").open(newline="") as file:
        rows = Counter((row["product"], int(row["orders"]), int(row["cents"])) for row in csv.DictReader(file))
    orders = json.loads(environment.run("python", "-c", ORDERS, cwd=project).stdout)
    assert rows == _answer(orders)
    compared = environment.run("python", "-m", "shop.answer", "results.csv", cwd=project)
    assert (compared.returncode, compared.stdout) == (0, "right: 6 products, 1240 orders\n")
    assert seconds < within_seconds, f"the run took {seconds:.0f} s"


def assert_nothing_of_the_clone_is_used(environment: Environment, folder: Path) -> None:
    """The package is the one that was installed, and importing it loads no Spark."""
    code = "import sys, rheostat; print('pyspark' in sys.modules); print(rheostat.__file__)"
    loaded, file = environment.run("python", "-c", code, cwd=folder).stdout.splitlines()
    assert loaded == "False"
    assert Path(file).is_relative_to(environment.path)


def _answer(orders: list[list[object]]) -> Counter[tuple[str, int, int]]:
    counts, cents = Counter[str](), Counter[str]()
    for product, pieces in orders:
        counts[str(product)] += 1
        cents[str(product)] += int(str(pieces)) * PRICES[str(product)]
    return Counter((product, counts[product], cents[product]) for product in counts)
