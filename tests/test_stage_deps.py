from tests.helpers.stage_deps import ROOT, imported_files, wrong_stages


def test_every_file_that_a_stage_imports_stands_in_its_deps():
    """DVC does not see imports: a file that is missing here could change without its stage running again."""
    assert wrong_stages() == {}, "run: python -m tests.helpers.stage_deps --write"


def test_imports_are_followed_through_other_files():
    found = {str(file.relative_to(ROOT)) for file in imported_files(ROOT / "pipelines" / "train.py")}
    assert "src/elman/training/loop.py" in found  # imported by what the script imports
    assert "src/elman/reporting/table.py" not in found


def test_no_stage_script_has_the_name_of_a_standard_module():
    import sys

    names = {file.stem for file in (ROOT / "pipelines").glob("*.py")}
    assert names & sys.stdlib_module_names == set()


def test_stage_scripts_are_short():
    lines = {file.name: len(file.read_text().splitlines()) for file in (ROOT / "pipelines").glob("*.py")}
    assert {name: count for name, count in lines.items() if count > 50} == {}
