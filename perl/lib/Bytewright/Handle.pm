package Bytewright::Handle;

# The base of all objects that stand for something of the library: a table, a place in it, a capture. Nothing of that is in Perl's
# data, so Storable would keep an empty object.
use 5.030;
use warnings;

use Bytewright::Error;

sub STORABLE_freeze {
    my ($self) = @_;
    my $class  = Bytewright::Error::_excerpt(ref($self));
    my $advice = $self->isa("Bytewright::Table") ? "a copy of its entries, { %hash } of the tied hash, or use backup"
        : $self->isa("Bytewright::Writer") ? "what it writes" : "what it reads";
    Bytewright::Error::_refuse("expected data of Perl's to store or to copy, found a $class; store $advice");
}

1;
