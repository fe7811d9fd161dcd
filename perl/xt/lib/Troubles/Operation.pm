package Troubles::Operation;

# Base class of all operations.

use 5.030;
use warnings;

use Troubles;

sub new {
    my ($class, $folder) = @_;
    my $self = bless { folder => $folder }, $class;
    $self->set_up;
    return $self;
}

sub set_up { }
# Ends what is open, twice.
sub end { }
# Dies where something of what was there is not.
sub check { }
# Returns the beginnings of the names of files that it may leave.
sub files { return () }
sub path { my ($self, $name) = @_; return "$self->{folder}/$name" }

# Runs on the same files by another object; that one may be refused.
sub second {
    my ($self) = @_;
    my $other;
    my $kind = Troubles::kind_of(sub { $other = ref($self)->new($self->{folder}) });
    return Troubles::expect($kind eq "lock", "a lock") if defined($kind);
    Troubles::expect(Troubles::told($other->run) eq Troubles::told($self->run), "the same of another object");
    $other->end;
    return;
}

1;
