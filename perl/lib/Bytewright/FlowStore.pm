package Bytewright::FlowStore;

use 5.030;
use warnings;

use Bytewright ();
use Bytewright::Error;
use parent "Bytewright::Handle";
use Bytewright::Path;

sub open {
    my ($class, $path, @rest) = @_;
    Bytewright::Error::_refuse("expected a path alone, found more: a store has no options") if @rest;
    my $self = bless \my($store), $class;
    $self->_open(Bytewright::Path::of($path));
    return $self;
}

# One that the flows of captures are merged into, and that is made with the first of them.
sub _to_merge {
    my ($path) = @_;
    my $self = bless \my($store), __PACKAGE__;
    $self->_open_to_merge(Bytewright::Path::to_write($path));
    return $self;
}

sub flows {
    my ($self, %options) = @_;
    my $fields = delete($options{fields}) // [];
    my ($other) = sort(keys(%options));
    Bytewright::Error::_refuse("expected an option (fields), found " . Bytewright::Error::_excerpt($other)) if defined($other);
    return $self->_flows($fields);
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::FlowStore - flows of many captures, added up in one file

=head1 SYNOPSIS

    use Bytewright;

    Bytewright::Capture->open($_)->flows(into => "week.bwt") for glob("*.pcap.gz");

    my $flows = Bytewright::FlowStore->open("week.bwt")->flows(fields => ["src_ip", "dst_port", "bytes"]);
    while (my ($address, $port, $bytes) = $flows->next_row) { ... }

=head1 DESCRIPTION

A table file that C<flows> of a L<Bytewright::Capture> with C<into>, or another language or the command, wrote. It is read here, also
while another process adds to it: the flows are those of the moment when C<flows> is called. F<docs/flow-table.md> describes the file.

Under C<-T>, all values are tainted.

=head1 METHODS

=head2 open

    Bytewright::FlowStore->open($path)

=head2 flows

    $store->flows(fields => ["src_ip", "bytes"])

L<Bytewright::Rows> with these fields of each flow, or all that are kept, in the order of addresses.

=head2 count

The number of flows.

=head2 close

Closes it; what still reads it fails then.

=cut
