package Bytewright::Snapshot;

use 5.030;
use warnings;

use Bytewright ();
use parent "Bytewright::Handle";
use Bytewright::Range;

sub scan   { return $_[0]->_scan(undef, undef, undef, 0, 0) }
sub range  { my $self = shift; return Bytewright::Range::scan($self, @_) }
sub prefix { my ($self, $prefix, %range) = @_; return Bytewright::Range::scan($self, %range, prefix => $prefix) }
sub exists { return defined($_[0]->get($_[1])) }

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Snapshot - a table as it was

=head1 SYNOPSIS

    my $before = $table->snapshot;
    $table->clear;
    $before->get("a");

=head1 DESCRIPTION

Made by C<snapshot> of a table, which later changes do not change. What changed since takes memory, or room in the file, for as
long as the snapshot is there.

=head1 METHODS

=head2 get

    $snapshot->get($key)

The value, or undef.

=head2 exists

    $snapshot->exists($key)

=head2 count

The number of entries.

=head2 scan

A L<Bytewright::Scan> over all entries.

=head2 range

As that of a L<Bytewright::TreeTable>.

=head2 prefix

As that of a L<Bytewright::TreeTable>.

=cut
