package Bytewright::Named;

# Options by name. Their tables are the core's: it knows the names, checks the values and words the errors.

use 5.030;
use warnings;

use Bytewright::Error;
use overload ();

# Options whose value may be a list.
my %TAKES_LIST = map { $_ => 1 } qw(by include);

# Options as the core takes them: NAME=VALUE, once for each value of a list. One that is undef is not given.
sub texts {
    my (%options) = @_;
    my @texts;
    for my $name (sort(keys(%options))) {
        my @values = ref($options{$name}) eq "ARRAY" && $TAKES_LIST{$name} ? @{ $options{$name} } : $options{$name} // ();
        for my $value (@values) {
            my $is_plain = !ref($value) || overload::Method($value, '""') || overload::Method($value, "0+");
            _refuse_reference($name, $value) if !$is_plain;
            push(@texts, "$name=$value");
        }
    }
    return @texts;
}

sub _refuse_reference {
    my ($name, $found) = map { Bytewright::Error::_excerpt($_) } $_[0], ref($_[1]);
    Bytewright::Error::_refuse("expected text or a number as $name, found a reference to $found");
}

1;
