"""`merito report`: stored runs compared, in tables, curves and stories."""

from __future__ import annotations

from pathlib import Path

import click

from tui import options


@click.command("report")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--experiment", "experiments", multiple=True, metavar="ID", help="All runs of an experiment."
)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="One page with plots.")
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), help="The tables.")
@click.option(
    "--csv", type=click.Path(path_type=Path, file_okay=False), help="Everything, in a folder."
)
@click.option(
    "--labels",
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="CSV with the columns question and label: true failure types, to judge the classifier by.",
)
@click.option("--title", help="Of the report; default: what is compared.")
@options.store
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each row of each table.")
def command(
    runs: tuple[str, ...],
    experiments: tuple[str, ...],
    html: Path | None,
    markdown: Path | None,
    csv: Path | None,
    labels: Path | None,
    title: str | None,
    store: Path | None,
    as_json: bool,
) -> int:
    """Compare RUNs, each named by its id, its beginning, or "last".

    \b
    Examples:
      merito report --experiment x4be01c77 --html report.html
      merito report 20260901-1015 20260901-1140 --csv tables/
    """
    from contextlib import closing

    from stores.store import Store
    from tui import settings
    from tui.experiments import files
    from tui.experiments.reporting import named_runs, read_labels, reported, stored_metrics
    from tui.experiments.terminal import show

    if not runs and not experiments:
        raise click.UsageError("Name a RUN, or an experiment: merito report --experiment ID.")
    known = read_labels(labels) if labels else None
    path = settings.store_path(str(store) if store else None)
    with closing(Store.open(path, mode="read")) as opened, opened.snapshot():
        ids = named_runs(opened, runs, experiments)
        report = reported(
            stored_metrics(opened, ids), title or _title(ids, experiments, bool(runs)), known
        )
    written = []
    if html:
        files.write_page(html, report)
        written.append(html)
    if markdown:
        files.write_markdown(markdown, report)
        written.append(markdown)
    if csv:
        written += files.write_csv(csv, report)
    # Files first: whoever reads the rest may stop half-way.
    show(report, as_json=as_json)
    if not as_json:
        for file in written:
            click.echo(f"Written: {file}")
    return 0


def _title(ids: list[str], experiments: tuple[str, ...], others: bool) -> str:
    if experiments and not others:
        return f"Experiment {', '.join(experiments)}"
    return f"Run {ids[0]}" if len(ids) == 1 else f"{len(ids)} runs"
