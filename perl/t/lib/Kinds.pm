package Kinds;

# The kinds of tables that a test runs with.

use 5.030;
use warnings;

use File::Temp qw(tempdir);

my $folder = tempdir(CLEANUP => 1);
my $count  = 0;

# The path of a new file in a folder that goes with the test.
sub path { my ($suffix) = @_; return "$folder/" . ++$count . $suffix }

# Class and options of each kind, in memory and in a new file.
sub all {
    return (
        ["a HashTable in memory", "Bytewright::HashTable"],
        ["a TreeTable in memory", "Bytewright::TreeTable"],
        ["a HashTable in a file", "Bytewright::HashTable", file => path(".bwh")],
        ["a TreeTable in a file", "Bytewright::TreeTable", file => path(".bwt")],
    );
}

# Returns the arguments of tie for each kind, those of Tokyo Cabinet's names among them.
sub tied_ones {
    return (
        all(),
        ["an ADB *",    "Bytewright::ADB", "*"],
        ["an ADB +",    "Bytewright::ADB", "+"],
        ["an ADB .bwh", "Bytewright::ADB", path(".bwh")],
        ["an ADB .bwt", "Bytewright::ADB", path(".bwt#mode=wct")],
    );
}

1;
