# Filled by the gates: install rules and the exported package `orrery`.
