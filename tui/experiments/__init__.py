"""The faces of experiments: cells that run, reports that are written."""
