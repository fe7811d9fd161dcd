package Bytewright::Input;

# Input that a program gives instead of a path: a reference to bytes, or a handle. The object holds it for as long as it is read.

use 5.030;
use warnings;

use Bytewright ();
use Bytewright::Error;

# The input, or undef for what is a path.
sub of {
    my ($given) = @_;
    return _of_bytes($$given) if ref($given) eq "SCALAR";
    return _of_handle($given, _descriptor($given)) if _is_handle($given);
    return undef;
}

sub _is_handle {
    my ($given) = @_;
    return ref(\$given) eq "GLOB" || ref($given) && (ref($given) eq "GLOB" || UNIVERSAL::isa($given, "IO::Handle"));
}

sub _descriptor {
    my ($handle) = @_;
    my $number = fileno($handle);
    return $number if defined($number) && $number >= 0;
    Bytewright::Error::_refuse("expected a handle with a file descriptor, found one without; give a reference to the bytes");
}

1;
