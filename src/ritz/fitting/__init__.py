"""What is asked of a fit, what it will cost, which solver does it, and how often it is tried again.

Comes in: a `Request` and an operator. Goes out: a `Plan` before anything is computed, and a certified result.
A new rule for the number of components belongs into `rank`, a new cost into `costs`.
"""
