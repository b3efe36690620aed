"""The tasks of benchmarks/repository_tasks, done by command lines of coding agents with one model."""
