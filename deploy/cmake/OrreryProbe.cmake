# Filled by the gates: proves that this compiler does not contract a*b+c (DETERMINISM.md rule 1).
