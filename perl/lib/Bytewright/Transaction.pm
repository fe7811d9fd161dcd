package Bytewright::Transaction;

use 5.030;
use warnings;

use parent "Bytewright::Handle";

# Everything is in the extension: no signal's handler runs there, so a `die` out of one finds the transaction whole, or rolled
# back with its object.

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Transaction - changes of a table that are kept together, or not at all

=head1 SYNOPSIS

    my $txn = $table->txn;
    $table->put("a", "1");
    $txn->commit;

=head1 DESCRIPTION

Made by C<txn> of a L<Bytewright::Table>. Where its object ends before C<commit>, the changes are rolled back, and those of
transactions inside of it: also where a C<die> in a signal's handler leaves the block.

A transaction that has others inside cannot end before these: C<commit> and C<abort> die, and it stays as it is.

=head1 METHODS

=head2 commit

Keeps the changes.

=head2 abort

Takes them back.

=cut
