"""What the project is tested with is written down: a fresh environment is the same one."""

from __future__ import annotations

import tomllib
from itertools import chain

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import PROJECT


def test_every_package_that_the_project_names_has_an_exact_version() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    named = chain(project["dependencies"], *project["optional-dependencies"].values())
    needs = [Requirement(each) for each in named]
    wanted = {canonicalize_name(need.name): need.specifier for need in needs}
    lines = (PROJECT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert [name for name in wanted if name not in pins] == []
    assert [name for name, allowed in wanted.items() if pins[name] not in allowed] == []
    assert list(pins) == sorted(pins)
