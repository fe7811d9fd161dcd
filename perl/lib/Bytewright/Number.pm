package Bytewright::Number;

# Options that are numbers. The checks, which whole, count and seconds make, are the extension's: its own methods use them, too.

use 5.030;
use warnings;

use Bytewright ();

# Maximum of C's uint32_t.
my $U32_MAX = 2**32 - 1;

# The option of this name, or undef where it was not given.
sub u32_of     { my ($value, $name) = _given(@_); return defined($value) ? whole($value, $name, 0, $U32_MAX) : undef }
sub count_of   { my ($value, $name) = _given(@_); return defined($value) ? count($value, $name, 0) : undef }
sub seconds_of { my ($value, $name) = _given(@_); return defined($value) ? seconds($value, $name) : undef }

sub _given { my ($options, $name) = @_; return ($options->{$name}, $name) }

1;
