package Troubles::Captures;

# Operations on captures, and the base class of those on one that is open.

use 5.030;
use warnings;

use Bytewright;
use File::Copy ();
use Troubles;
use Troubles::Operation;

our @ISA = ("Troubles::Operation");
my ($ROOT, $CAPTURE) = ($Troubles::ROOT, $Troubles::CAPTURE);

our %OPERATIONS = (
    "open a capture"                       => "OpenACapture",
    "walk the packets of a capture"        => "WalkThePacketsOfACapture",
    "read a capture as columns"            => "ReadACaptureAsColumns",
    "sum up a capture"                     => "SumUpACapture",
    "walk the flows or calls of a capture" => "WalkTheFlowsOrCallsOfACapture",
    "write what was read to a file"        => "WriteWhatWasReadToAFile",
);

sub set_up { my ($self) = @_; $self->{capture} = Bytewright::Capture->open($CAPTURE); return }
sub end    { my ($self) = @_; $self->{capture}->close for 1 .. 2; return }

sub itself {
    my ($self) = @_;
    $self->end;
    Troubles::expect_kind("closed", sub { $self->run });
    return;
}

{
    package OpenACapture;
    our @ISA = ("Troubles::Operation");

    sub run {
        my @first;
        open(my $handle, "<:raw", $CAPTURE) or die;
        for my $input ($CAPTURE, $handle, \Troubles::content($CAPTURE)) {
            my $capture = Bytewright::Capture->open($input, filter => "tcp or udp", inner => 1, jobs => 2);
            push(@first, $capture->next);
            $capture->close;
        }
        return \@first;
    }

    sub itself {
        my ($self) = @_;
        my $path = $self->path("cut.pcap");
        open(my $from, "<:raw", $CAPTURE) or die;
        my $bytes = do { local $/; <$from> };
        open(my $to, ">:raw", $path) or die;
        print $to $bytes;
        close($to) or die;
        my $capture = Bytewright::Capture->open($path);
        truncate($path, 100) or die;
        Troubles::expect_kind("truncated", sub { 1 while $capture->next });
        unlink($path) or die;
        return;
    }
}

{
    package WalkThePacketsOfACapture;
    our @ISA = ("Troubles::Captures");

    sub run {
        my ($self) = @_;
        my $rows = $self->{capture}->packets("src_ip", "length");
        my ($sum, $count, %seen) = (0, 0);
        while (my ($address, $length) = $rows->next_row) { $sum += $length; $seen{ $address // "" }++ }
        my $packets = Bytewright::Capture->open(\Troubles::content($CAPTURE))->packets;
        while (my $packet = $packets->next) { $count++ }
        return [$sum, $count, \%seen, $rows->names];
    }

    sub itself {
        my ($self) = @_;
        Troubles::expect_kind("closed", sub {
            my $rows = $self->{capture}->packets("length");
            while (my ($length) = $rows->next_row) { $self->end }
            while (my ($length) = $self->{capture}->packets("length")->next_row) { last }
        });
        return $self->SUPER::itself;
    }
}

{
    package ReadACaptureAsColumns;
    our @ISA = ("Troubles::Captures");

    sub run {
        my ($self) = @_;
        my ($rows, $sum) = ($self->{capture}->packets("src_port", "length"), 0);
        while (my ($ports, $lengths) = $rows->next_columns) { $sum += $_ // 0 for @$ports, @$lengths }
        return $sum;
    }
}

{
    package SumUpACapture;
    our @ISA = ("Troubles::Captures");

    sub run {
        my ($self) = @_;
        my $sums = $self->{capture}->sum(fields => ["length"], by => ["src_ip"], where => "length > 60");
        my @rows;
        while (my @row = $sums->next_row) { push(@rows, \@row) }
        return [\@rows, [map { [$_->next_row] } $self->{capture}->endpoints(top => 1)], $self->{capture}->count_by("proto"), $self->{capture}->info->{packets},
            Bytewright::Capture->open(\Troubles::content($CAPTURE))->count_by("proto")];
    }
}

{
    package WalkTheFlowsOrCallsOfACapture;
    our @ISA = ("Troubles::Captures");

    sub set_up { my ($self) = @_; $self->SUPER::set_up; $self->{calls} = Bytewright::Capture->open("$ROOT/samples/warehouse.pcap.zst"); return }
    sub end    { my ($self) = @_; $self->SUPER::end; $self->{calls}->close for 1 .. 2; return }

    sub run {
        my ($self) = @_;
        my $flows = $self->{capture}->flows(fields => ["src_ip", "packets", "bytes"]);
        my $calls = $self->{calls}->calls(fields => ["method", "latency", "arguments"], idl => "$ROOT/samples/warehouse.thrift", service => "Store");
        my @rows;
        for my $each ($flows, $calls) {
            while (my @row = $each->next_row) { push(@rows, \@row) }
        }
        return \@rows;
    }

    sub itself {
        my ($self) = @_;
        my ($calls, $count) = ($self->{calls}->calls, 0);
        Troubles::expect_kind("closed", sub { while ($calls->next) { $self->{calls}->close if !$count++ } });
        return $self->SUPER::itself;
    }
}

{
    package WriteWhatWasReadToAFile;
    our @ISA = ("Troubles::Captures");

    sub files { return ("f.json", "f.new") }

    sub run {
        my ($self) = @_;
        my ($path, $packets) = ($self->path("f.json"), $self->path("f.new.pcap"));
        my $flows   = $self->{capture}->flows(into => $path, format => "ecs");
        my $written = $self->{capture}->write_to($packets, force => 1);
        return [$flows, $written, -s $packets, Troubles::content($path)];
    }

    # The file of before stays.
    sub grow {
        my ($self) = @_;
        my $path = $self->path("f.json");
        my $before = Troubles::content($path);
        my $grown = Bytewright::Capture->open("$ROOT/samples/web.pcap.gz");
        return if eval { $grown->flows(into => $path, format => "ecs"); 1 };
        my $failure = $@;
        Troubles::expect(Troubles::content($path) eq $before, "the file of before");
        return if eval { $grown->write_to($self->path("f.new.pcap"), force => 1); 1 };
        die $failure if !Bytewright::Error::_is($@) || $@->kind eq "io";
        die $@;
    }

    sub itself {
        my ($self) = @_;
        my $own = $self->path("f.pcap");
        File::Copy::copy($CAPTURE, $own) or die;
        my $before = Troubles::content($own);
        Troubles::expect_kind("argument", sub { Bytewright::Capture->open($own)->flows(into => $own, format => "zeek", force => 1) });
        Troubles::expect_kind("argument", sub { Bytewright::Capture->open($own)->write_to($own, force => 1) });
        Troubles::expect(Troubles::content($own) eq $before, "a capture as it was");
        unlink($own) or die;
        return $self->SUPER::itself;
    }
}

1;
