"""What makes translation fast, and what it does to gender (SimpleGEN's study, for any system)."""
