package Bytewright::Rows;

use 5.030;
use warnings;

use Bytewright ();
use parent "Bytewright::Handle";

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Rows - packets, flows or calls, one after another or in columns

=head1 SYNOPSIS

    my $flows = $capture->flows;
    while (my $flow = $flows->next) {
        print "$flow->{src_ip} $flow->{bytes}\n";
    }
    my ($packets, $bytes) = ($capture->packets("dst_port", "length"), 0);
    while (my ($ports, $lengths) = $packets->next_columns) {
        $bytes += $_ for @$lengths;
    }

=head1 DESCRIPTION

Made by C<packets>, C<flows> and C<calls> of a L<Bytewright::Capture>, and by C<flows> of a L<Bytewright::FlowStore>. A bounded part of the rows is in memory at a time.

=head1 METHODS

=head2 next

The next row as a reference to a hash, or undef after the last.

=head2 next_row

The values of the next row as a list, in the order of the fields, or an empty list after the last. Faster than C<next>.
In scalar context: the number of fields, or undef after the last row.

=head2 next_columns

The values of the next rows, some ten thousand at once: for each field a reference to an array, in the order of the fields, or an
empty list after the last. The fastest way to read many rows. It begins behind the row that the other methods gave last.
In scalar context: the number of fields, or undef after the last row.

=head2 names

The names of the fields; in scalar context their number.

=cut
