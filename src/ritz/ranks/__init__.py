"""How many components: the rules beside each other, each with its threshold, its assumption and whether that holds.

Comes in: rows, or a fitted model. Goes out: a panel of rules and a recommendation with its reason. A new rule is a
function of what the panel knows of the rows, and a line in its table.
"""
