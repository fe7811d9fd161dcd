# Ours: tables from Perl, tied to a hash.
#
#   perl tables.pl TASK ENGINE RECORDS

use 5.030;
use warnings;

use FindBin;
require "$FindBin::Bin/../workload/tables.pl";

use Bytewright;
use Bytewright::ADB;

sub tied_to {
    my ($class, @options) = @_;
    return sub {
        my ($folder) = @_;
        tie(my %table, $class, map { s{^FOLDER/}{$folder/}r } @options) or die "@options does not open\n";
        return \%table;
    };
}

run(
    "hash"      => tied_to("Bytewright::HashTable"),
    "tree"      => tied_to("Bytewright::TreeTable"),
    "adb-hash"  => tied_to("Bytewright::ADB", "*"),
    "adb-tree"  => tied_to("Bytewright::ADB", "+"),
    "hash-file" => tied_to("Bytewright::HashTable", file => "FOLDER/x.bwh"),
    "tree-file" => tied_to("Bytewright::TreeTable", file => "FOLDER/x.bwt"),
);
