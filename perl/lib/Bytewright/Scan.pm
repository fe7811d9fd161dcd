package Bytewright::Scan;

use 5.030;
use warnings;

use Bytewright ();
use parent "Bytewright::Handle";

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Scan - entries of a table as it was when the scan began

=head1 SYNOPSIS

    my $scan = $table->range(from => "a", to => "b");
    while (my ($key, $value) = $scan->next) { ... }

=head1 DESCRIPTION

Made by C<scan>, C<range> and C<prefix> of a table or a snapshot. It goes over its entries once.

=head1 METHODS

=head2 next

Key and value of the next entry, or an empty list after the last. In scalar context, as of Perl's C<each>: the key, or undef.

=head2 all

Keys and values of the entries that are left, by turns. In scalar context C<all>, C<keys> and C<values> give the number of these
entries, which they walk over.

=head2 keys

The keys of the entries that are left.

=head2 values

The values of the entries that are left.

=cut
