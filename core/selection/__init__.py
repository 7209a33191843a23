"""Choosing one of several candidate queries (MAP-SQL; map-sql.md)."""
