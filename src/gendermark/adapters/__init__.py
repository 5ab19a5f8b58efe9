"""Run benchmarks inside other evaluation programs, and export results to them.

Each adapter is an extra, imported only on request.
"""
