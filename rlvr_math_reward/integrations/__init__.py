"""Entry points for frameworks other than TRL: one small module each, over the same rewards.

None of them imports its framework before it is called. Where a framework has no way to leave a row out, a bad gold
earns 0.0 and the outcome says `bad_gold`.
"""
