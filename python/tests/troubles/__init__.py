"""Operations of the package, a module for each kind of object, and a driver for each trouble. test_troubles.py puts them together."""
