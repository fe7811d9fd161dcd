package Bytewright::Path;

# Paths as the system takes them: bytes.

use 5.030;
use warnings;

use Bytewright::Error;

sub of {
    my ($path) = @_;
    Bytewright::Error::_refuse("expected a path, found undef") if !defined($path);
    Bytewright::Error::_refuse("expected a path, found a reference") if ref($path) && !overload::Method($path, '""');
    $path = "$path";
    utf8::encode($path) unless utf8::downgrade($path, 1);
    Bytewright::Error::_refuse("expected a path without a zero byte, found one with it") if $path =~ /\0/;
    return $path;
}

1;
