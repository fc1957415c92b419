"""Tasks in which a reader repairs a chapter that somebody has broken."""
