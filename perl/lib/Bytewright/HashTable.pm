package Bytewright::HashTable;

use 5.030;
use warnings;

use parent "Bytewright::Table";

sub _kind { return 1 }

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::HashTable - a hash in a fraction of the memory, in memory or in a file

=head1 SYNOPSIS

    use Bytewright;

    tie my %seen, "Bytewright::HashTable";                        # in memory
    tie my %kept, "Bytewright::HashTable", file => "kept.bwh";    # in a file
    $seen{$_}++ for qw(a b a);

=head1 DESCRIPTION

A table that finds keys by their hashes. Its methods are those of L<Bytewright::Table>.

=cut
