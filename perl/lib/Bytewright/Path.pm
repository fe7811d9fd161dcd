package Bytewright::Path;

# Paths as the system takes them: the bytes that Perl's own open would give it. Those are the ones that Perl keeps the string
# with, so that characters from 128 to 255 are one byte or two of UTF-8.

use 5.030;
use warnings;

use Bytewright::Error;
use Scalar::Util ();

sub of {
    my ($path) = @_;
    Bytewright::Error::_refuse("expected a path, found undef") if !defined($path);
    Bytewright::Error::_refuse("expected a path, found a reference") if ref($path) && !overload::Method($path, '""');
    $path = "$path";
    utf8::encode($path) if utf8::is_utf8($path);
    Bytewright::Error::_refuse("expected a path without a zero byte, found one with it") if $path =~ /\0/;
    return $path;
}

# The path of a file that is to be written. Under -T, Perl's own open refuses a tainted one, in the same words.
sub to_write {
    my ($path) = @_;
    my $bytes = of($path);
    return $bytes if !${^TAINT} || !Scalar::Util::tainted($path);
    Bytewright::Error::_refuse("Insecure dependency in open while running with -T switch") if ${^TAINT} > 0;
    my ($script, $line) = Bytewright::Error::_caller();
    warn("Insecure dependency in open while running with -t switch at $script line $line.\n");
    return $bytes;
}

1;
