import subprocess
from pathlib import Path

import pytest

from elman.tracking.git import GitState, git_state


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    git("init", "-q")
    for name in ("code.py", "dvc.lock"):
        (tmp_path / name).write_text("1\n")
    git("add", ".")
    git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "First")
    return tmp_path


def test_a_fresh_commit_is_clean(repository: Path) -> None:
    state = git_state(repository)
    assert state.commit is not None
    assert len(state.commit) == 40
    assert state.dirty is False


def test_changed_code_is_dirty(repository: Path) -> None:
    (repository / "code.py").write_text("2\n")
    state = git_state(repository)
    assert state.dirty is True
    assert state.as_tags() == {
        "git.commit": state.commit,
        "git.dirty": "true",
        "mlflow.source.git.commit": state.commit,
    }


def test_the_lock_that_the_pipeline_rewrites_while_it_runs_does_not_make_the_code_dirty(repository: Path) -> None:
    (repository / "dvc.lock").write_text("2\n")
    (repository / "untracked.txt").write_text("2\n")
    assert git_state(repository).dirty is False


def test_a_folder_below_the_top_sees_the_whole_repository(repository: Path) -> None:
    (repository / "code.py").write_text("2\n")
    below = repository / "below"
    below.mkdir()
    assert git_state(below).dirty is True


def test_outside_a_repository_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_state(tmp_path) == GitState(commit=None, dirty=None)
    assert git_state(tmp_path).as_tags() == {"git.commit": "none"}


def test_without_git_there_is_no_commit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert git_state(repository).commit is None
