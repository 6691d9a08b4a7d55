"""The configuration: its checks, its defaults, and its statements about models and corpora."""
