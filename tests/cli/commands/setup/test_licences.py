"""`rheostat licences`: every installed requirement with the licence that its metadata names."""

from importlib import metadata

import pytest

from rheostat.cli.commands.setup.licences import Licence, installed_requirements, licence_of


def distribution(folder, *headers):
    """An installed package of this metadata."""
    place = folder / "made_up-1.0.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("\n".join(["Metadata-Version: 2.4", "Name: made-up", "Version: 1.0", *headers]))
    return metadata.Distribution.at(place)


def test_it_lists_direct_and_indirect_requirements_once_and_not_itself(rheostat):
    told = rheostat("licences", "--json").json
    names = [one["package"].lower() for one in told["licences"]]
    assert {"numpy", "typer", "rich", "pygments", "markdown-it-py"} <= set(names)
    assert len(set(names)) == len(names)
    assert not {"rheostat", "pytest", "ruff", "hypothesis"} & set(names)
    assert (told["ok"], told["mistakes"]) == (True, [])


def test_the_text_says_the_same_as_the_json(rheostat):
    told, shown = rheostat("licences", "--json").json["licences"], rheostat("licences").out
    assert shown.splitlines()[-1] == f"{len(told)} packages"
    assert all(one["package"] in shown and one["version"] in shown for one in told)


def test_requirements_that_are_not_installed_are_left_out():
    assert "jinja2" not in {package.name.lower() for package in installed_requirements("rheostat")}
    with pytest.raises(metadata.PackageNotFoundError):
        installed_requirements("no-such-package-at-all")


@pytest.mark.parametrize(
    ("headers", "licence"),
    [
        pytest.param(("License-Expression: MIT", "License: other"), "MIT", id="an SPDX expression comes first"),
        pytest.param(("License: BSD",), "BSD", id="else the licence field"),
        pytest.param(
            ("License: " + "text " * 30, "Classifier: License :: OSI Approved :: ISC License"),
            "ISC License",
            id="a licence field with the whole text is passed over",
        ),
        pytest.param(("Classifier: Typing :: Typed",), "unknown", id="nothing is said"),
    ],
)
def test_the_licence_of_a_package(tmp_path, headers, licence):
    assert licence_of(distribution(tmp_path, *headers)) == Licence("made-up", "1.0", licence, None)
