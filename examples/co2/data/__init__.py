"""The record: monthly means of atmospheric CO2, 1958 to 2001."""
