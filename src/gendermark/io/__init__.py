"""Files and the disk: reading translation files, atomic writing, locks, progress, disk-backed lists."""
