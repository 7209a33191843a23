"""Schema hints: facts about a failed query, worked out from schema, message and database alone."""

from core.repair.hints.making import hints_for
from core.repair.hints.values import Lookup, lookup_in

__all__ = ["Lookup", "hints_for", "lookup_in"]
