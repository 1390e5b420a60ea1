"""Commands about this machine and a new project: doctor, init, licences.

They use `output` and `views`, and need no Spark.
"""
