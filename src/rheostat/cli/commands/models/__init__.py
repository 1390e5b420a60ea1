"""Commands that ask the model: validate, show, evaluate, plan, compare, simulate.

They use `inputs`, `views`, `pictures` and `output`, never a run.
"""
