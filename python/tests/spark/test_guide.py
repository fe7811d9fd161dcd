"""Goal: the examples of docs/guides/spark.md do what they say."""

from test_documents import ROOT, run_examples


def test_the_guide_does_what_it_says(spark, tmp_path, monkeypatch):
    # The session of the tests is the one that the guide gets.
    run_examples(ROOT / "docs/guides/spark.md", tmp_path, monkeypatch)
