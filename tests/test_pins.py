"""What the project is tested with is written down: a fresh environment is the same one."""

from __future__ import annotations

import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import PROJECT


def test_every_package_that_the_project_names_has_an_exact_version() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    named = [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]
    wanted = {canonicalize_name(Requirement(each).name): Requirement(each).specifier for each in named}
    lines = (PROJECT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert [name for name in wanted if canonicalize_name(name) not in pins] == []
    assert [name for name, allowed in wanted.items() if pins[name] not in allowed] == []
    assert list(pins) == sorted(pins)
