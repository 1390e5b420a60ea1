"""The commands, one module each.

`models` asks the model and needs no Spark, `running` starts, steers and reads runs; both use every other room of
`cli` but `main`.
"""
