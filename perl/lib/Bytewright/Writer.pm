package Bytewright::Writer;

use 5.030;
use warnings;

use Bytewright ();
use Bytewright::Error;
use parent "Bytewright::Handle";
use Bytewright::Input;
use Bytewright::Path;
use IO::Handle ();
use overload ();

# Treatments of a file that is there, by their numbers in the C interface.
my %MODES = (anew => 0, append => 1, replace => 2);

sub open {
    my ($class, $given, %options) = @_;
    my ($mode, $is_synced) = _checked(\%options);
    my $self = bless \my($writer), $class;
    $self->_attach;
    # Files of File::Temp are handles, and have their paths as texts.
    my $is_handle = !overload::Method($given, '""') && Bytewright::Input::_is_handle($given);
    if ($is_handle) {
        Bytewright::Error::_refuse("expected no mode with a handle, found mode: open the handle so") if defined($options{mode});
        my $descriptor = Bytewright::Input::_descriptor($given);
        # Text that was printed before comes before.
        IO::Handle::flush($given);
        $self->_open_descriptor($descriptor, $is_synced);
    }
    else { $self->_open_path(Bytewright::Path::to_write($given), $mode, $is_synced) }
    return $self;
}

sub _checked {
    my ($options) = @_;
    my ($unknown) = map { Bytewright::Error::_excerpt($_) } sort(grep { !/\A(?:mode|sync)\z/ } keys(%$options));
    Bytewright::Error::_refuse("expected mode or sync as an option, found $unknown") if defined($unknown);
    my ($mode, $sync) = ($options->{mode} // "anew", $options->{sync} // 0);
    Bytewright::Error::_refuse("expected anew, append or replace as mode, found " . Bytewright::Error::_excerpt($mode))
        if !exists($MODES{$mode});
    Bytewright::Error::_refuse("expected true or false as sync, found " . Bytewright::Error::_excerpt($sync))
        if $sync !~ /\A(?:1|true|0|false|)\z/;
    return ($MODES{$mode}, $sync =~ /\A(?:1|true)\z/);
}

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Writer - binary files, written by values

=head1 SYNOPSIS

    use Bytewright;

    my $writer = Bytewright::Writer->open("points.bin", mode => "replace");
    $writer->u32be(2)->u8(7)->write("two points");
    $writer->f64le($_) for 1.5, -2.0;
    $writer->close;

=head1 DESCRIPTION

Values are gathered in a buffer of 128 KiB and written in few calls of the system. The methods that write return the writer. A
value that does not fit dies with a L<Bytewright::Error> of the kind C<argument>, and nothing is written.

If the system refuses a write, as on a full disk, the method dies, and what was not written is gathered still: C<flush> goes on
when there is space. So it is if the handler of a signal dies. Nothing is compressed.

=head1 METHODS

=head2 open

    Bytewright::Writer->open($path)
    Bytewright::Writer->open(\*STDOUT)
    Bytewright::Writer->open($path, mode => "replace", sync => 1)

A path, or a handle of a file, a pipe or a socket. What Perl has printed to the handle goes before; the writer has a descriptor of
its own, so that the handle may be closed. A named pipe is waited for until somebody reads it. Under C<-T>, a tainted path is refused.
Options, by name, are:

=over

=item mode

Treatment of a file that is there: C<anew> empties it, C<append> writes behind it, also behind what others append meanwhile;
C<replace> leaves it until C<close>, which puts the new file in its place: a reader, or a power cut, finds the one or the other,
whole. Of a path only; default: C<anew>.

=item sync

C<flush> and C<close> return when what was written will survive a power cut. Value: true or false; default: false.

=back

=head2 u8

    $writer->u8($number)

A number as a byte.

=head2 i8

The same with a sign.

=head2 u16le u16be u24le u24be u32le u32be u64le u64be

A number of so many bits that is never negative, the least (C<le>) or the most (C<be>) significant byte first.

=head2 i16le i16be i32le i32be i64le i64be

The same with a sign.

=head2 f32le f32be f64le f64be

A floating-point number (IEEE 754), of 32 bits the nearest one.

=head2 varint

A number in seven bits to a byte, the low ones first (LEB128).

=head2 zigzag

The same for numbers with a sign, as protocol buffers have them.

=head2 write

    $writer->write($bytes)

Bytes, such as C<pack> makes. Where it dies, C<tell> says how many were taken.

=head2 seek

    $writer->seek($offset, $whence)

Goes to a place, counted from the beginning (0, or nothing), from here (1) or from the end (2), as Perl's C<seek> does, such as to
a length at the beginning that is known at the end. It dies of a handle, and of a pipe. With C<append> all goes to the end.

=head2 tell

The place of the next byte: in a file, and else in bytes from the first that was written.

=head2 flush

Hands all that is gathered to the system.

=head2 sync

The same, and returns when it will survive a power cut.

=head2 close

Flushes, and gives a file that replaces another its name. Where it dies, the writer is open still, with what was not written: close
it again, or discard it. The end of the object does so, too, except that a file that was to be replaced stays, and that it warns
instead of dying.

=head2 discard

Closes without writing what is gathered. A file that was to be replaced stays as it was; another keeps what was written before.

=cut
