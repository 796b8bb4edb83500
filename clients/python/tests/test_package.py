"""The built wheel installs in a fresh environment and works there."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import Server

SCRIPT = """
import sys
from causeway_client import Causeway, NotFoundError

with Causeway(*sys.argv[1:]) as causeway:
    try:
        causeway.nonprofit("no-such-nonprofit")
    except NotFoundError as error:
        print(causeway.search("red cross").nonprofits[0].slug, error.code, type(causeway.directory().sources[0].imported_at).__name__)
"""


OLDEST_PYTHON = os.environ.get("OLDEST_PYTHON", "")
NO_OLDEST_PYTHON = pytest.mark.skipif(not OLDEST_PYTHON, reason="this machine has no Python 3.10")


@pytest.mark.parametrize("server", ["SQLite"], indirect=True)
@pytest.mark.parametrize("interpreter", [sys.executable, pytest.param(OLDEST_PYTHON, marks=NO_OLDEST_PYTHON)])
def test_the_wheel_installs_and_works(interpreter: str, server: Server, tmp_path: Path) -> None:
    project = Path(__file__).parent.parent
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, project], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = tmp_path.glob("*.whl")
    assert len(list(tmp_path.glob("*.tar.gz"))) == 1
    names = zipfile.ZipFile(wheel).namelist()
    assert "causeway_client/py.typed" in names and any(name.endswith("LICENSE-MIT") for name in names)

    subprocess.run([interpreter, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    # The folder has what the package depends on; make test-clients downloads it.
    offline = ["--no-index", "--find-links", os.environ["WHEELS"]] if "WHEELS" in os.environ else []
    pip = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *offline, wheel], check=True)
    output = subprocess.check_output([python, "-c", SCRIPT, server.base_url, server.public_key], cwd=tmp_path, text=True)
    assert output.split() == ["american-red-cross", "nonprofit_not_found", "datetime"]
