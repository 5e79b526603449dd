"""The way of the data: any source, the door, strict tables that are known by their
names."""
