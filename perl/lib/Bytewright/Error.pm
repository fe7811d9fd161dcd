package Bytewright::Error;

use 5.030;
use warnings;

use Scalar::Util ();

use overload '""' => \&_text, bool => sub { 1 }, fallback => 1;

# Called by the extension, too.
sub _new {
    my ($kind, $message, $file, $offset, $os_error) = @_;
    my ($script, $line) = _caller();
    return bless {
        kind => $kind, message => $message, file => $file, offset => $offset, os_error => $os_error,
        where => " at $script line $line.\n",
    }, __PACKAGE__;
}

# The place in the program that called Bytewright.
sub _caller {
    my $level = 0;
    $level++ while (caller($level))[0] =~ /^Bytewright(?:$|::)/ && caller($level + 1);
    return (caller($level))[1, 2];
}

# A text of the program as a message repeats it, as the core does: of a long one the beginning and the end. Called by the extension, too.
sub _excerpt {
    my ($text) = @_;
    return length($text) <= 200 ? $text : substr($text, 0, 100) . "\x{2026}" . substr($text, -99);
}

sub _refuse {
    my ($message) = @_;
    die _new("argument", $message);
}

# Is true for an error of ours. A handler of a signal may die with anything.
sub _is { return Scalar::Util::blessed($_[0]) && $_[0]->isa(__PACKAGE__) }

sub _text { my ($self) = @_; return $self->{message} . $self->{where} }

sub kind     { return $_[0]{kind} }
sub message  { return $_[0]{message} }
sub file     { return $_[0]{file} }
sub offset   { return $_[0]{offset} }
sub os_error { return $_[0]{os_error} }

1;

__END__

=encoding utf8

=head1 NAME

Bytewright::Error - what Bytewright dies with

=head1 SYNOPSIS

    my $table = eval { Bytewright::HashTable->new(file => "users.bwh") };
    if (my $error = $@) {
        die $error unless ref($error) && $error->isa("Bytewright::Error") && $error->kind eq "lock";
        print "somebody else writes: $error";
    }

=head1 DESCRIPTION

An object with what is known of a failure. As a string it is the message with the line of the program, as Perl's own are.

=head1 METHODS

=head2 kind

What a program can do about it, one of

    io               the system refused; os_error has its number
    format           the bytes are not what the format allows
    truncated        the input ends in the middle of something
    limit            a length or count is above its bound
    lock             another process or object has the file
    closed           the object was closed, or belongs to another process or thread
    corrupt          a file that Bytewright wrote is damaged
    missing_library  a library that was asked for is not installed
    argument         the program asked for what there is not
    internal         a defect in Bytewright

=head2 message

What was expected and what was found, with the file and the place before it.

=head2 file

The file, or undef.

=head2 offset

The place in the input in bytes, after decompression, or undef.

=head2 os_error

The number that the system gave (C<$!> of the failure), or undef.

=cut
