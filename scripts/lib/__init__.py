"""What the Python programs of this repository share; python.sh starts those in here."""
