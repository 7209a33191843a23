"""An international film festival: films, credits, screenings, tickets and prizes."""
