"""What is asked of a fit, what it will cost, which solver does it, and what is tried next where that is not enough.

Comes in: a `Request` and an operator. Goes out: a `Plan` before anything is computed, and a certified `Decomposition`.
A new rule for the number of components belongs into `rank`, a new cost into `costs`, a new fallback into the table
`MENDS` of `solve`, and a parameter that a fit needs into `request`.
"""
