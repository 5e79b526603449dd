"""Forms of tasks and answers: the page, Label Studio, a sheet."""
