"""Experiments: the speed study, training, mitigation, debiasing, analyses of the uncertainty paper.

The core never imports this package.
"""
