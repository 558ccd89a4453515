"""Counts as Prometheus reads them."""

from elman.serving.measures import Measures
from elman.serving.metrics_text import Counter, Gauge, Histogram, metrics_text


def test_a_counter_has_a_line_for_each_combination_of_labels() -> None:
    counter = Counter("asked_total", "Requests.", "route", "status")
    counter.add("/score", "200")
    counter.add("/score", "200", count=4)
    counter.add("/classify", "429")
    assert metrics_text([counter]) == (
        "# HELP asked_total Requests.\n# TYPE asked_total counter\n"
        'asked_total{route="/classify",status="429"} 1\nasked_total{route="/score",status="200"} 5\n'
    )


def test_a_histogram_adds_up_to_each_bound_which_belongs_to_it() -> None:
    histogram = Histogram("took_seconds", "Time.", bounds=(0.1, 0.5, 2.0), label="route")
    for value in (0.05, 0.1, 0.3, 0.5, 7.25):
        histogram.add("/", value)
    assert list(histogram.lines()) == [
        'took_seconds_bucket{route="/",le="0.1"} 2',
        'took_seconds_bucket{route="/",le="0.5"} 4',
        'took_seconds_bucket{route="/",le="2"} 4',
        'took_seconds_bucket{route="/",le="+Inf"} 5',
        'took_seconds_sum{route="/"} 8.2',
        'took_seconds_count{route="/"} 5',
    ]


def test_a_gauge_is_read_when_it_is_asked_for() -> None:
    values = {"": 3.0}
    gauge = Gauge("streams", "Streams.", lambda: values)
    waiting = Gauge("waiting", "Texts.", lambda: {"score": 2.5, "feed": 1e6}, label="kind")
    values[""] = 12345678.0
    assert list(gauge.lines()) == ["streams 12345678"]
    assert list(waiting.lines()) == ['waiting{kind="feed"} 1000000', 'waiting{kind="score"} 2.5']


def test_a_label_with_quotes_and_line_ends_is_escaped() -> None:
    counter = Counter("odd_total", "Odd.", "name")
    counter.add('a"b\\c\nd')
    assert list(counter.lines()) == [r'odd_total{name="a\"b\\c\nd"} 1']


def test_without_labels_and_before_anything_happened() -> None:
    measures = Measures(waiting=dict, streams=lambda: 2, generations=lambda: 0)
    measures.tokens.add(count=3)
    lines = measures.text().splitlines()
    assert "elman_generated_tokens_total 3" in lines
    assert "elman_streams 2" in lines
    assert "# TYPE elman_request_seconds histogram" in lines
    assert len({line for line in lines if line.startswith("# HELP")}) == 10
