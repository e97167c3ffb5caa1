"""What is asked of a fit, what it will cost, which solver does it, and what is tried next where that is not enough.

Comes in: a `Request` and an operator. Goes out: a `Plan` before anything is computed, and a certified `Decomposition`.
A parameter that a fit needs is a field of `Request`, which the estimator fills in `_request`: `solve` obeys it, and
`Request.chosen` hands what a solver needs to the solver's options. A new cost belongs into `costs`, a new choice into
`planning`, a new fallback into the table `MENDS` of `solve`, a new rule for the number of components into `rank`.
`signflips` is the test behind n_components="auto" (random signs of the entries, not those of axes); `deflation`
subtracts what was found, `edges` has the largest eigenvalues, `stopping` tells when enough copies were compared, and
`signflip_plans` what that costs.
"""
