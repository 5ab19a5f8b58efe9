"""Benchmarks inside other evaluation programs, and results where other programs read them.

Each adapter is an extra, imported only by the program that it is for or when it is asked for by name.
"""
