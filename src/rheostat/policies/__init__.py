"""What should be done, given what was seen: decisions without a clock, without a world, without memory of their own."""
