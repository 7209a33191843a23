"""Pages: what a stakeholder opens in a browser without installing anything."""
