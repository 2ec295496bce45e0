"""From the text of a program to lifted code, which calls hooks."""
