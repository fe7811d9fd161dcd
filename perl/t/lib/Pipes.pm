package Pipes;

# Pipes as inputs of tests.

use 5.030;
use warnings;

use POSIX ();

# Returns the end to read of a pipe with these bytes, which a child writes in pieces of random lengths.
sub with_bytes {
    my ($bytes, $piece_max) = @_;
    pipe(my $reader, my $writer) or die "pipe: $!";
    my $child = fork() // die "fork: $!";
    if (!$child) {
        close($reader);
        while (length($bytes)) { syswrite($writer, substr($bytes, 0, 1 + rand($piece_max), "")) }
        POSIX::_exit(0);
    }
    return $reader;
}

1;
