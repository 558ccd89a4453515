"""What the numbers rest on: the rows read, the splits, and what stands in two of them."""

from elman.reporting.facts import SPLITS, data_facts, split_table
from elman.reporting.html import definitions, section, table
from elman.reporting.inputs import ReportInputs


def data_section(inputs: ReportInputs) -> str:
    """Counts by split, and what happened on the way from the files to the splits."""
    rows = [
        [name, *numbers] for name, numbers in split_table(inputs.comparison["task"], inputs.prepared, inputs.encoded)
    ]
    facts = data_facts(inputs.prepared, inputs.encoded)
    return section("Data", table(["", *SPLITS], rows), definitions(facts))
