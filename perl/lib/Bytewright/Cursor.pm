package Bytewright::Cursor;

use 5.030;
use warnings;

use Bytewright ();
use parent "Bytewright::Handle";

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Cursor - a place in an ordered table that moves both ways

=head1 SYNOPSIS

    my $cursor = $table->cursor;
    for (my $is_there = $cursor->seek("m"); $is_there; $is_there = $cursor->next) {
        my ($key, $value) = $cursor->entry;
    }

=head1 DESCRIPTION

Made by C<cursor> of a L<Bytewright::TreeTable>. It is in the table as it was then, before the first entry. Each move returns
whether it is at an entry now.

=head1 METHODS

=head2 first

Moves to the lowest key.

=head2 last

Moves to the highest key.

=head2 next

Moves to the next key.

=head2 prev

Moves to the key before.

=head2 seek

    $cursor->seek($key)

Moves to the lowest key that is not below this one.

=head2 entry

Key and value, or an empty list where it is at no entry. In scalar context the key, or undef.

=head2 key

The key, or undef.

=head2 value

The value, or undef.

=cut
