package Troubles::FlowStores;

# Operations on stores of flows.

use 5.030;
use warnings;

use Bytewright;
use Troubles;
use Troubles::Operation;

my $CAPTURE = $Troubles::CAPTURE;

our %OPERATIONS = (
    "merge flows into a store" => "MergeFlowsIntoAStore",
    "walk a store of flows"    => "WalkAStoreOfFlows",
);

{
    package MergeFlowsIntoAStore;
    our @ISA = ("Troubles::Operation");

    sub files { return ("m.bwt") }
    sub set_up { my ($self) = @_; $self->{process} = $$; return }

    sub run {
        my ($self) = @_;
        my $merge = $self->merged($CAPTURE);
        my $store = Bytewright::FlowStore->open($self->path("m.bwt"));
        my @found = ($merge->{packets}, $store->count);
        $store->close;
        return \@found;
    }

    # While another one writes, the file is locked. A forked child does not wait for its parent, which waits for the child.
    sub merged {
        my ($self, $input) = @_;
        my $end = time() + $Troubles::SECONDS_MAX;
        while (1) {
            my ($merge, $capture) = (undef, Bytewright::Capture->open($input));
            my $kind = Troubles::kind_of(sub { $merge = $capture->flows(into => $self->path("m.bwt")) }) // return $merge;
            die $@ if $kind ne "lock" || $self->{process} != $$ || time() > $end;
        }
    }

    sub grow {
        my ($self) = @_;
        my $head = pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1);
        for my $number (1 .. 10_000) {
            my @frames = map { pack("x12 n C2 n3 C2 n N2 n4", 0x0800, 0x45, 0, 28, 0, 0, 64, 17, 0, $number, 2, $_, 4, 8, 0) } 1 .. 500;
            my $bytes = join("", $head, map { pack("V4", $number, 0, length($_), length($_)) . $_ } @frames);
            Bytewright::Capture->open(\$bytes)->flows(into => $self->path("m.bwt"));
        }
        return;
    }

    sub itself {
        my ($self) = @_;
        $self->merged($CAPTURE);
        my $own = $self->path("m.bwt");
        Troubles::expect_kind("format", sub { Bytewright::Capture->open($own)->flows(into => $own) });
        open(my $handle, "<:raw", $own) or die;
        Troubles::expect_kind("argument", sub { Bytewright::Capture->open($handle)->flows(into => $own) });
        return;
    }
}

{
    package WalkAStoreOfFlows;
    our @ISA = ("MergeFlowsIntoAStore");

    sub set_up {
        my ($self) = @_;
        $self->SUPER::set_up;
        $self->merged($CAPTURE);
        $self->{store} = Bytewright::FlowStore->open($self->path("m.bwt"));
        return;
    }

    sub end { my ($self) = @_; $self->{store}->close for 1 .. 2; return }

    sub run {
        my ($self) = @_;
        my ($flows, @rows) = ($self->{store}->flows(fields => ["src_ip", "bytes"]));
        while (my @row = $flows->next_row) { push(@rows, \@row) }
        return [\@rows, $self->{store}->count];
    }

    sub itself {
        my ($self) = @_;
        my $flows = $self->{store}->flows;
        Troubles::expect_kind("closed", sub { while ($flows->next) { $self->end } });
        return;
    }
}

1;
