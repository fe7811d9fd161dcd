package Troubles::Streams;

# Operations of readers and writers of values.

use 5.030;
use warnings;

use Bytewright;
use Errno ();
use Troubles;
use Troubles::Operation;

our %OPERATIONS = (
    "read values from a stream" => "ReadValuesFromAStream",
    "write values to a stream"  => "WriteValuesToAStream",
);

{
    package ReadValuesFromAStream;
    our @ISA = ("Troubles::Operation");

    my $bytes = pack("C N n/a (Nn)1000 w d> a100", 1, 2, "abc", (map { ($_, $_ % 7) } 1 .. 1000), 300, 0.5, "rest");
    sub files { return ("r") }

    sub set_up {
        my ($self) = @_;
        return if -e $self->path("r");
        open(my $file, ">:raw", $self->path("r")) or die;
        print $file $bytes;
        close($file) or die;
        return;
    }

    sub run {
        my ($self) = @_;
        open(my $handle, "<:raw", $self->path("r")) or die;
        return [map { $self->read_all(Bytewright::Reader->open($_)) } $self->path("r"), \$bytes, $handle];
    }

    sub read_all {
        my ($self, $reader) = @_;
        my @found = ($reader->u8, $reader->u32be, $reader->read($reader->u16be), $reader->tell);
        push(@found, $reader->unpack("N n", 2), $reader->skip(6), $reader->eof);
        $reader->seek(3, 1);
        my ($rows, $sum) = ($reader->records("C"), 0);
        while (my ($byte) = $rows->next_row) { $sum += $byte }
        return [@found, $sum];
    }

    sub itself {
        my ($self) = @_;
        my $reader = Bytewright::Reader->open($self->path("r"));
        Troubles::expect_kind("closed", sub { while (defined($reader->u8)) { $reader->close } });
        my $own = "ab" x 10_000;
        my $of_bytes = Bytewright::Reader->open(\$own);
        my ($rows, $count) = ($of_bytes->records("C"), 0);
        while (my ($byte) = $rows->next_row) { $own = "" if !$count++; $of_bytes->close }
        Troubles::expect($count == 20_000, "all bytes, found $count");
        return;
    }
}

{
    package WriteValuesToAStream;
    our @ISA = ("Troubles::Operation");

    my @numbers = map { $_ * $_ } 0 .. 5000;
    my $expected = pack("C N N d> w a*", 1, 2, 3, 0.5, 300, pack("N*", @numbers)) . "x" x 300_000;
    sub files { return ("w") }

    sub run {
        my ($self) = @_;
        # A file that is emptied is one's own: others would find it so.
        my ($anew, $of_handle) = map { $self->path(join("-", "w", $_, $$, $INC{"threads.pm"} ? threads->tid : 0)) } "anew", "handle";
        open(my $handle, ">:raw", $of_handle) or die;
        my @outputs = ([$self->path("w"), mode => "replace", sync => 1], [$anew], [$handle]);
        $self->write_all(Bytewright::Writer->open(@$_)) for @outputs;
        my @found = map { Troubles::content($_) eq $expected } $self->path("w"), $anew, $of_handle;
        unlink($anew, $of_handle);
        return \@found;
    }

    sub write_all {
        my ($self, $writer, $count) = @_;
        $writer->u8(1)->u32be(2)->u32be(3)->f64be(0.5)->write(pack("w", 300))->flush;
        $writer->u32be($_) for @numbers;
        $writer->write("x" x 300_000) for 1 .. $count // 1;
        my $place = $writer->tell;
        # The die of a handler is no error of ours.
        eval { $writer->seek($place); 1 } or Bytewright::Error::_is($@) && $@->os_error == Errno::ESPIPE() or die $@;
        $writer->sync;
        $writer->close;
        return;
    }

    # The file of before stays.
    sub grow {
        my ($self) = @_;
        my $before = Troubles::content($self->path("w"));
        my $writer = Bytewright::Writer->open($self->path("w"), mode => "replace");
        return if eval { $self->write_all($writer, 9); 1 };
        my $failure = $@;
        $writer->discard;
        Troubles::expect(Troubles::content($self->path("w")) eq $before, "the file of before");
        die $failure;
    }

    # The output is the input, and is replaced while it is read.
    sub itself {
        my ($self) = @_;
        $self->run;
        my $reader = Bytewright::Reader->open($self->path("w"));
        my $writer = Bytewright::Writer->open($self->path("w"), mode => "replace");
        while (defined(my $bytes = $reader->read(1000))) { $writer->write($bytes) }
        $writer->close;
        Troubles::expect(Troubles::content($self->path("w")) eq $expected, "what was read");
        Troubles::expect_kind("closed", sub { $writer->u8(1) });
        return;
    }
}

1;
