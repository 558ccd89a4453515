from xml.etree import ElementTree

from elman.reporting.confusion import draw_confusion
from elman.reporting.drawing import as_svg

CLASSES = {"labels": ["a", "b"], "confusion": [[2, 1], [0, 3]]}


def test_a_drawing_for_a_page_takes_the_colours_of_the_page() -> None:
    svg = as_svg(draw_confusion("gru", CLASSES, for_page=True), label='Confusion of "GRU" & <co>')
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == 'Confusion of "GRU" & <co>'
    assert "width" not in root.attrib
    assert "currentColor" in svg
    assert "var(--line)" in svg
    assert "#010203" not in svg
    assert "<metadata" not in svg
    assert "predicted" in "".join(root.itertext())


def test_equal_drawings_are_equal_and_others_share_no_ids() -> None:
    cells = ("gru", "gru", "lstm")
    drawings = [as_svg(draw_confusion(cell, CLASSES, for_page=True), label=cell) for cell in cells]
    assert drawings[0] == drawings[1]
    clips = [
        {item.attrib["id"] for item in ElementTree.fromstring(svg).iter() if item.tag.endswith("clipPath")}
        for svg in drawings
    ]
    assert clips[0]
    assert clips[0].isdisjoint(clips[2])
