# Generated from the core's table of questions by `make generate`. Do not edit.
package Bytewright::Questions;

use 5.030;
use warnings;

use Bytewright::Named;

sub endpoints {
    my ($self, %options) = @_;
    return $self->_summary("endpoints", [Bytewright::Named::texts(%options)]);
}

sub services {
    my ($self, %options) = @_;
    return $self->_summary("services", [Bytewright::Named::texts(%options)]);
}

sub index {
    my ($self, %options) = @_;
    return $self->_summary("index", [Bytewright::Named::texts(%options)]);
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Questions - questions to captures that are asked by their name

=head1 DESCRIPTION

Methods of L<Bytewright::Capture>.

=head1 METHODS

=head2 endpoints

    my $rows = $capture->endpoints(%options);

Packets and bytes by IP address, sent and received, the addresses with the most bytes first. A packet counts for both of
its addresses, and one without addresses for none. The answer is L<Bytewright::Rows> with the columns address, packets,
bytes, sent_packets, sent_bytes, received_packets, received_bytes, groups.

=over

=item every

Seconds of the intervals that rows are told apart by. Value: a number of seconds; default: none.

=item top

Rows at most, those with the most bytes. Value: integer from 0; default: all.

=item where

Only packets that meet this condition, such as "dst_port == 443 and length > 1e3". Value: text; default: all.

=back


=head2 services

    my $rows = $capture->services(%options);

Packets and bytes by service, the protocol and the lower of a packet's two ports, sent and received by that port, the
services with the most bytes first. A packet without ports counts for none. The answer is L<Bytewright::Rows> with the
columns proto, port, packets, bytes, sent_packets, sent_bytes, received_packets, received_bytes, groups.

=over

=item every

Seconds of the intervals that rows are told apart by. Value: a number of seconds; default: none.

=item top

Rows at most, those with the most bytes. Value: integer from 0; default: all.

=item where

Only packets that meet this condition, such as "dst_port == 443 and length > 1e3". Value: text; default: all.

=back


=head2 index

    my $rows = $capture->index(%options);

Make the indexes of captures, files with which questions about a time and packets by their numbers need not read a whole
capture. An index lies beside its capture, as FILE.bwi, or in the folder that index_dir names; one that fits is left as
it is, and that of a capture that has grown is made longer. The answer is L<Bytewright::Rows> with the columns file,
index, state, packets, parts, bytes, first_ts, last_ts.

=over

=item anew

Make an index anew, also where there is one that fits. Value: true or false; default: false.

=back


=cut
