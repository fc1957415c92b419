"""The third parties of ../../wiretap.sh, and the packets that they send."""
