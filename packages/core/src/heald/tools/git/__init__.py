"""Git as Heald runs it: one place that starts it, with settings of its own."""
