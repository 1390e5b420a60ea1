"""Taxi routes, the application of EDRP: query 1 of the DEBS 2015 Grand Challenge."""
