"""The command line: commands, their inputs and the form of their answers.

Its rooms, from low to high: `output`, `views`, `pictures`, `inputs`, `session`, `commands`, `main`.
It may use every layer below it.
"""
