# Peers: Perl's hash; Tokyo Cabinet, DB_File and LMDB_File tied to one.
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

# A file of Berkeley DB, by DB_File: $kind is DB_HASH or DB_BTREE. Stores reach the file when its cache is full or it is closed.
sub berkeley {
    my ($kind) = @_;
    return sub {
        my ($folder) = @_;
        require DB_File;
        require Fcntl;
        no strict "refs";
        tie(my %table, "DB_File", "$folder/x.db", Fcntl::O_RDWR() | Fcntl::O_CREAT(), 0644, ${"DB_File::$kind"})
            or die "$kind does not open: $!\n";
        return \%table;
    };
}

# A file of LMDB. The tie is one transaction, which ends with it: so no store is a commit.
sub lmdb {
    my ($folder) = @_;
    require LMDB_File;
    my $flags = LMDB_File::MDB_NOSUBDIR() | LMDB_File::MDB_NOSYNC();
    tie(my %table, "LMDB_File", "$folder/x.lmdb", { flags => $flags, mapsize => 1 << 30 }) or die "LMDB does not open\n";
    return \%table;
}

run(
    "hash"         => sub { return {} },
    "tc-hash"      => tokyo("*"),
    "tc-tree"      => tokyo("+"),
    "tc-hash-file" => tokyo("x.tch"),
    "tc-tree-file" => tokyo("x.tcb"),
    "db-hash-file" => berkeley("DB_HASH"),
    "db-tree-file" => berkeley("DB_BTREE"),
    "lmdb-file"    => \&lmdb,
);
