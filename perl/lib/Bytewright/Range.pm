package Bytewright::Range;

# The options that select entries of an ordered table or its snapshot.

use 5.030;
use warnings;

use Bytewright ();
use Bytewright::Error;

my @BOUNDS = qw(from to prefix);
my %KNOWN = map { $_ => 1 } @BOUNDS, qw(reverse limit);

sub scan {
    my $entries = shift;
    return $entries->_scan(_arguments(@_));
}

# Deletes the entries of a range, and returns how many there were.
sub delete {
    my $table = shift;
    return $table->_delete_range(_arguments(@_));
}

sub _arguments {
    my (%range) = @_;
    my ($unknown) = sort(grep { !$KNOWN{$_} } keys(%range));
    Bytewright::Error::_refuse("expected from, to, prefix, reverse or limit as an option, found " . Bytewright::Error::_excerpt($unknown))
        if defined($unknown);
    my $limit = defined($range{limit}) ? Bytewright::Number::count($range{limit}, "limit", 1) : 0;
    return (@range{@BOUNDS}, !!$range{reverse}, $limit);
}

# Key and value of the first entry of a range, or an empty list.
sub first {
    my ($entries, %range) = @_;
    return scan($entries, %range, limit => 1)->next;
}

1;
