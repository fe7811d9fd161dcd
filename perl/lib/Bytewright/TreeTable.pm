package Bytewright::TreeTable;

use 5.030;
use warnings;

use parent "Bytewright::Table";

sub _kind { return 2 }

sub range  { my $self = shift; return Bytewright::Range::scan($self, @_) }
sub prefix { my ($self, $prefix, %range) = @_; return Bytewright::Range::scan($self, %range, prefix => $prefix) }

sub delete_range { my $self = shift; return Bytewright::Range::delete($self, @_) }

sub cursor  { return $_[0]->_cursor }
sub first   { return Bytewright::Range::first($_[0]) }
sub last    { return Bytewright::Range::first($_[0], reverse => 1) }
sub floor   { return Bytewright::Range::first($_[0], to => $_[1], reverse => 1) }
sub ceiling { return Bytewright::Range::first($_[0], from => $_[1]) }

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::TreeTable - a table in the order of its keys, in memory or in a file

=head1 SYNOPSIS

    use Bytewright;

    my $log = Bytewright::TreeTable->new(file => "log.bwt");
    $log->put("2026-11-22 10:00", "up");
    my @today = $log->prefix("2026-11-22")->all;
    my ($key, $value) = $log->floor("2026-11-23");

=head1 DESCRIPTION

A table whose keys are ordered as bytes. It has the methods of L<Bytewright::Table> and these.

=head1 METHODS

=head2 range

    $table->range(from => $key, to => $key, prefix => $prefix, reverse => 1, limit => $count)

A L<Bytewright::Scan> over the entries whose keys are not below C<from>, not above C<to> and begin with C<prefix>, the highest
first with C<reverse>, and no more than C<limit>.

=head2 prefix

    $table->prefix($prefix, %range)

The same with a prefix.

=head2 delete_range

    $table->delete_range(prefix => $prefix)
    $table->delete_range(from => $key, to => $key, prefix => $prefix, reverse => 1, limit => $count)

Removes the entries that C<range> would give, all of them or, on an error, none, and returns how many there were.

=head2 first

Key and value of the entry with the lowest key, or an empty list. In scalar context C<first>, C<last>, C<floor> and C<ceiling> give
the key, or undef.

=head2 last

The same with the highest key.

=head2 floor

    $table->floor($key)

Key and value of the entry with the highest key that is not above this one, or an empty list.

=head2 ceiling

    $table->ceiling($key)

The same with the lowest key that is not below.

=head2 cursor

A L<Bytewright::Cursor> over the table as it is now.

=cut
