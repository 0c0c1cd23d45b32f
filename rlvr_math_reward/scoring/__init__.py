"""Scoring files of completions: in processes of this machine, on Ray, with checks of golds and a look at peers."""
