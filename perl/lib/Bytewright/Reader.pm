package Bytewright::Reader;

use 5.030;
use warnings;

use Bytewright ();
use parent "Bytewright::Handle";
use Bytewright::Input;
use Bytewright::Named;
use Bytewright::Path;

sub open {
    my ($class, $path, %options) = @_;
    my $self = bless \my($reader), $class;
    $self->_attach;
    my @named = Bytewright::Named::texts(%options);
    my $input = Bytewright::Input::of($path);
    if   ($input) { $self->_open_input($input, @named) }
    else          { $self->_open_path(Bytewright::Path::of($path), @named) }
    return $self;
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Reader - binary files by values and records, compressed or not

=head1 SYNOPSIS

    use Bytewright;

    my $reader = Bytewright::Reader->open("points.bin");
    my $count = $reader->u32be;
    my @first = $reader->unpack("N n a4");
    my $points = $reader->records("N n a4", "id", "port", "name");
    while (my ($id, $port, $name) = $points->next_row) { ... }

=head1 DESCRIPTION

Input is read through one buffer, so that a value costs a method call and neither a call of the system nor an C<unpack>. gzip and
zstd are told by their first bytes and decompressed, unless C<compressed> says otherwise; places count decompressed bytes then.

At the end of the input methods answer undef, or an empty list. A value or a record that the input ends within dies with a
L<Bytewright::Error> of the kind C<truncated>, whose C<offset> is its place, and nothing of it is taken. Damage of compressed
input dies after all that is before it.

Under C<-T>, values are tainted as those that Perl reads; those of bytes in memory, where these are.

=head1 METHODS

=head2 open

    Bytewright::Reader->open($path)
    Bytewright::Reader->open(\*STDIN)
    Bytewright::Reader->open(\$bytes)
    Bytewright::Reader->open($path, compressed => "none")

A file, a handle of a file, a pipe or a socket, or bytes in memory. Of a handle the system's is read, from where that is: what Perl
has read ahead of it is not seen. It stays open as long as the reader.
Options, by name, are:

=for generated READER by `make generate`, of the core's tables

=over

=item compressed

Compression of the input: "auto" as its first bytes say, "none" to read the bytes as they are. Value: C<auto>, C<gzip>,
C<zstd>, C<none>; default: auto.

=back

=for generated end

=head2 u8

A byte as a number.

=head2 i8

The same with a sign.

=head2 u16le u16be u24le u24be u32le u32be u64le u64be

A number of so many bits that is never negative, the least (C<le>) or the most (C<be>) significant byte first.

=head2 i16le i16be i32le i32be i64le i64be

The same with a sign.

=head2 f32le f32be f64le f64be

A floating-point number (IEEE 754).

=head2 varint

A number of seven bits to a byte, the low ones first (LEB128), of at most 64 bits.

=head2 zigzag

The same for numbers with a sign, as protocol buffers have them.

=head2 unpack

    $reader->unpack($template)
    $reader->unpack($template, $count)

The values of the next record, or of so many, as Perl's C<unpack> gives them; fewer at the end. In scalar context the first of
them. The template has letters of a fixed length, such as C<"N n C a4 x2">; F<docs/reader.md> lists them.

=head2 records

    $reader->records($template, @names)

L<Bytewright::Rows> of all records from here on; the fields are named C<f0>, C<f1> and so on where no names are given. The reader
is closed: the rows read on. The fastest way to read many.

=head2 read

    $reader->read($count)
    $reader->read

Up to so many bytes, or all that are left.

=head2 skip

    $reader->skip($count)

Skips at most this many bytes, and returns how many it skipped.

=head2 seek

    $reader->seek($offset, $whence)

Goes to a place, counted from the beginning (0, or nothing), from here (1) or from the end (2), as Perl's C<seek> does. It dies
backwards in what can be read once.

=head2 tell

The place, in bytes from where the reader began.

=head2 eof

Whether there is nothing more.

=head2 close

Gives the input back. The end of the object does so, too.

=cut
