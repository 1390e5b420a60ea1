"""The commands, one module each.

`setup` looks after the machine and new projects, `models` asks the model and needs no Spark, `running` starts, steers
and reads runs. All of them use every other room of `cli` but `main`.
"""
