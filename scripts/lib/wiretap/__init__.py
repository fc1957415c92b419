"""The third party of ../../wiretap.sh."""
