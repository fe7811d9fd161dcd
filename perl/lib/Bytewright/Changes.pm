package Bytewright::Changes;

use 5.030;
use warnings;

use Bytewright ();
use parent "Bytewright::Handle";

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Changes - what changed in a hashed table in a file

=head1 SYNOPSIS

    my $changes = $table->changes_since($position);
    while (my ($change, $key, $value) = $changes->next) {
        if    ($change eq "put")    { $copy{$key} = $value }
        elsif ($change eq "delete") { delete $copy{$key} }
        else                        { %copy = () }
    }
    $position = $changes->position;

=head1 DESCRIPTION

Made by C<changes_since> of a table: the changes that were committed up to that moment. It goes over them once.

=head1 METHODS

=head2 next

The next change, or an empty list after the last: C<put> with key and value, C<delete> with a key, or C<clear>, which deletes
all entries. In scalar context only the name of the change, or undef.

=head2 position

The position behind the last of the changes, whatever of them was seen: a string for the next C<changes_since>.

=cut
