"""Mends: failed queries rewritten by rule, from schema, message and database alone. They cost no
call of the model, and nothing here knows gold."""

from core.repair.mends.making import Mend, mends_of

__all__ = ["Mend", "mends_of"]
