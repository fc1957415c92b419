"""What a capture and the logs of a run say, as a ladder, as a page, and in numbers."""
