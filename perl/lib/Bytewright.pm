package Bytewright;

use 5.030;
use warnings;

our $VERSION = '0.1.0';

use Bytewright::Error;
use XSLoader;

XSLoader::load("Bytewright", $VERSION);

# All but the ADB are loaded with it, so that one `use Bytewright` is enough for `tie`.
require Bytewright::HashTable;
require Bytewright::TreeTable;
require Bytewright::Scan;
require Bytewright::Changes;
require Bytewright::Cache;
require Bytewright::Cursor;
require Bytewright::Snapshot;
require Bytewright::Capture;
require Bytewright::FlowStore;
require Bytewright::Rows;
require Bytewright::Reader;
require Bytewright::Writer;

1;

__END__

=encoding utf8

=head1 NAME

Bytewright - packet captures and other binary files, and tables of byte strings in a fraction of a hash's memory, in memory or in a file

=head1 SYNOPSIS

    use Bytewright;

    tie my %seen, "Bytewright::HashTable";
    $seen{"10.0.0.1"} = "2026-11-20";

    my $users = Bytewright::TreeTable->new(file => "users.bwt");
    $users->txn(sub {
        $users->put("user:ada", "1815");
        $users->incr("visits");
    });
    my $scan = $users->prefix("user:");
    while (my ($key, $value) = $scan->next) {
        print "$key $value\n";
    }

=head1 DESCRIPTION

Bytewright reads, decodes and keeps bulk binary data at native speed. This is its Perl face, of which there are

=over

=item L<Bytewright::HashTable>, L<Bytewright::TreeTable>

tables, tied to a hash or as objects; L<Bytewright::Table> documents their methods, with L<Bytewright::Scan>,
L<Bytewright::Cursor>, L<Bytewright::Snapshot>, L<Bytewright::Changes> and L<Bytewright::Transaction>

=item L<Bytewright::ADB>

the same with the methods of C<TokyoCabinet::ADB>

=item L<Bytewright::Cache>

results that are gone after a while, or when there are too many, in memory or in a file; L<CHI::Driver::Bytewright> has them for CHI

=item L<Bytewright::Capture>

packet captures, in rows of L<Bytewright::Rows>

=item L<Bytewright::FlowStore>

flows of many captures, added up in one file

=item L<Bytewright::Reader>, L<Bytewright::Writer>

other binary files, by values and records

=item L<Bytewright::Error>

what all of them die with

=back

The guide is F<docs/guides/perl.md>.

=head1 FUNCTIONS

=head2 version

    Bytewright::version()

The version of the library that this module was built with, as text.

=head1 PROCESSES AND THREADS

A child that was forked may use what it inherited so far:

=over

=item a table in memory

It is a copy, as a hash is: with its scans, snapshots, cursors and open transactions. The parent sees no change of it.

=item a table in a file

The child may read and write it, as another process does: it has no part in a transaction that the parent had
open. To a file that the parent has for itself a change, C<commit> and C<abort> die with a
L<Bytewright::Error> of the kind C<closed>. Snapshots, scans and
cursors from before the fork are the parent's, and die so, too; a scan or cursor of a TreeTable may give some entries more first. It
makes new ones.

=item a capture

C<packets>, C<flows>, C<calls>, C<count_by>, C<sum>, C<info> and C<write_to> read it anew. Rows that were begun before the fork are the parent's:
they die. Of a handle, one of the two only may begin to read.

=item a store of flows

C<flows> and C<count> read it. Rows that were begun before the fork are the parent's: they die.

=item a reader

Parent and child have one place in the file or handle, which moves for both: one of them only may read on. The child opens its own.

=item a writer

It is the parent's: in the child, methods die with an error of the kind C<closed>, and nothing that was gathered is written twice.

=back

The child may close and free all of these, and end in any way: nothing of the parent's changes, and a transaction of a file that was
open stays open in the parent.

An ithread makes tables of its own. In a new one, the objects of the thread that made it are there, and each of their methods
dies with an error of the kind C<closed>. End C<each> over a tied hash before a thread is made: Perl frees the entry that it is
at twice.

=head1 LICENSE

MIT.

=cut
