# Peers: Perl's hash, and Tokyo Cabinet tied to one.
#
#   perl tables.pl TASK ENGINE RECORDS
#
# workload/tables.pl says what the tasks are.

use 5.030;
use warnings;

use FindBin;
require "$FindBin::Bin/../workload/tables.pl";

# A table of Tokyo Cabinet by its name, or that of its file.
sub tokyo {
    my ($name) = @_;
    return sub {
        my ($folder) = @_;
        require TokyoCabinet;
        tie(my %table, "TokyoCabinet::ADB", $name =~ /^\w/ ? "$folder/$name" : $name) or die "$name does not open\n";
        return \%table;
    };
}

run(
    "hash"         => sub { return {} },
    "tc-hash"      => tokyo("*"),
    "tc-tree"      => tokyo("+"),
    "tc-hash-file" => tokyo("x.tch"),
    "tc-tree-file" => tokyo("x.tcb"),
);
