# Goal: each operation survives each trouble: nothing that was committed is lost, nothing is half there, and the next run is right.
# Method: the table of conformance/troubles.json. An operation is a class with a set-up in a folder, `run`, which answers the
# same each time, and `itself`, which aims it at itself: those of each kind of object are a file in lib/Troubles/. One driver for each
# trouble works for all of them (lib/Troubles.pm). Every method of the face is of an operation, or plain: one that does no input or
# output, calls nobody and waits for nothing. The seed is printed.
use 5.030;
use warnings;

use Config;
use if $Config{useithreads}, "threads";

use Bytewright;
use Bytewright::ADB;
use File::Temp qw(tempdir);
use FindBin;
use JSON::PP ();
use Test::More;

use lib "$FindBin::Bin/lib";
use Troubles;
use Troubles::Backups;
use Troubles::Caches;
use Troubles::Captures;
use Troubles::FlowStores;
use Troubles::Streams;
use Troubles::Tables;

Troubles::fill(@ARGV[1, 2]) if @ARGV && $ARGV[0] eq "--full";

my $seed = $ENV{BYTEWRIGHT_SEED} // time();
srand($seed);

my %OPERATIONS = (
    %Troubles::Backups::OPERATIONS,
    %Troubles::Caches::OPERATIONS,
    %Troubles::Captures::OPERATIONS,
    %Troubles::FlowStores::OPERATIONS,
    %Troubles::Streams::OPERATIONS,
    %Troubles::Tables::OPERATIONS,
);
# Operations that Perl does not offer, and why.
my %NOT_OFFERED = (
    "run a transaction of a store"   => "stores hold objects of Ruby's",
    "write packets to a capture"     => "Perl has no writer of captures",
    "read a Thrift message"          => "Perl has no Thrift",
    "write a Thrift message"         => "Perl has no Thrift",
    "read a Thrift IDL file"         => "Perl has no Thrift",
);
# Troubles that this perl does not have, and why.
my %NO_TROUBLE = $Config{useithreads} ? () : (thread => "this perl has no ithreads");

note("BYTEWRIGHT_SEED=$seed");
open(my $file, "<:raw", "$Troubles::ROOT/conformance/troubles.json") or die "troubles.json: $!";
my $table = JSON::PP->new->utf8->decode(do { local $/; <$file> });

for my $each (@{ $table->{operations} }) {
    my $class = $OPERATIONS{ $each->{name} } or next;
    my $first = $class->new(tempdir(CLEANUP => 1));
    my $expected = Troubles::told($first->run);
    $first->end;
    for my $trouble (@{ $each->{troubles} }) {
        SKIP: {
            skip($NO_TROUBLE{$trouble}, 1) if $NO_TROUBLE{$trouble};
            my $driver  = $Troubles::DRIVERS{$trouble} // sub { die "expected a driver for $trouble" };
            my $is_done = eval { $driver->($class->new(tempdir(CLEANUP => 1)), $expected); 1 };
            my $error = $@;
            ok($is_done, "$each->{name}: $trouble") or diag("with BYTEWRIGHT_SEED=$seed: ", ref($error) eq "HASH" ? Troubles::told($error) : $error);
        }
    }
}

# Completeness.

# The methods that do each operation. A name of a table stands for both kinds.
my %METHODS = (
    "open a table"                         => [qw(Table->new Table->TIEHASH ADB->new ADB->TIEHASH ADB->open)],
    "read an entry"                        => [
        qw(Table->get Table->FETCH Table->exists Table->EXISTS Table->get_many Table->count Table->SCALAR),
        qw(TreeTable->first TreeTable->last TreeTable->floor TreeTable->ceiling ADB->get ADB->vsiz ADB->rnum),
    ],
    "change an entry"                      => [
        map({ "Table->$_" } qw(put STORE create append increment incr delete out DELETE)),
        map({ "ADB->$_" } qw(put putkeep putcat out addint adddouble)),
    ],
    "change many entries"                  => [qw(Table->put_many Table->clear Table->CLEAR ADB->misc ADB->vanish ADB->CLEAR TreeTable->delete_range)],
    "walk a table"                         => [
        map({ "Table->$_" } qw(keys values scan FIRSTKEY NEXTKEY)),
        map({ "TreeTable->$_" } qw(range prefix cursor)),
        map({ "Scan->$_" } qw(next all keys values)),
        map({ "Cursor->$_" } qw(first last next prev seek entry)),
        "Table->changes_since", "Changes->next",
        map({ "ADB->$_" } qw(iterinit iternext fwmkeys)),
    ],
    "use a cache"                          => [
        map({ "Cache->$_" } qw(new TIEHASH close get FETCH exists EXISTS expires_at set STORE add touch increment take DELETE delete evict expire)),
        map({ "Cache->$_" } qw(clear CLEAR count SCALAR volume keys FIRSTKEY NEXTKEY UNTIE compute)),
    ],
    "use a snapshot"                       => ["Table->snapshot", map { "Snapshot->$_" } qw(get exists count scan range prefix)],
    "run a transaction"                    => [
        qw(Table->transaction Table->txn Transaction->commit Transaction->abort ADB->tranbegin ADB->trancommit ADB->tranabort),
    ],
    "sync or compact a table"              => [qw(Table->sync Table->compact Table->stat ADB->sync ADB->optimize ADB->size)],
    "back a table up"                      => [qw(Table->backup ADB->copy)],
    "dump a table"                         => [qw(Table->dump)],
    "load a dump"                          => [qw(Table->load)],
    "close a table"                        => [qw(Table->close Table->UNTIE ADB->close ADB->UNTIE)],
    # A live capture needs rights of its own; what ends its rows is that of any other.
    "open a capture"                       => [qw(Capture->open Capture->live Capture->stop Capture->close Capture->next)],
    "walk the packets of a capture"        => [qw(Capture->packets Capture->frame Rows->next Rows->next_row)],
    "read a capture as columns"            => [qw(Rows->next_columns)],
    "sum up a capture"                     => [qw(Capture->sum Capture->count_by Capture->info Questions->endpoints Questions->index Questions->services)],
    "walk the flows or calls of a capture" => [qw(Capture->flows Capture->calls)],
    "merge flows into a store"             => [qw(Capture->flows)],
    "walk a store of flows"                => [map { "FlowStore->$_" } qw(open flows count close)],
    "write what was read to a file"        => [qw(Capture->flows Capture->write_to)],
    "read values from a stream"            => [
        "Reader->NUMBER", map { "Reader->$_" } qw(open close read seek skip eof unpack records),
    ],
    "write values to a stream"             => ["Writer->NUMBER", map { "Writer->$_" } qw(open close write seek flush sync discard)],
);
# Getters of what is in memory.
my @PLAIN = (
    qw(Table->is_closed Cache->is_closed Changes->position Cursor->key Cursor->value Rows->names Reader->tell Writer->tell Capture->damage Capture->index_fault Capture->live_counts ADB->path ADB->error),
    map { "Error->$_" } qw(kind message file offset os_error),
);
my $NUMBER = qr/\A(?:[iuf]\d+(?:le|be)?|varint|zigzag)\z/;

sub methods {
    my ($class) = @_;
    no strict "refs";
    my @names = grep { defined(&{"Bytewright::${class}::$_"}) && /\A[A-Za-z]/ } keys(%{"Bytewright::${class}::"});
    # Leaves out what every package has, and what `use` brings.
    return map { $class =~ /\A(?:Reader|Writer)\z/ && /$NUMBER/ ? "$class->NUMBER" : "$class->$_" } grep { !/\A(?:DESTROY|BEGIN|import|bootstrap|refaddr|STORABLE_freeze)\z/ } @names;
}

my %known  = map { $_ => 1 } @PLAIN, map { @$_ } values(%METHODS);
my @classes = grep { "Bytewright::$_"->isa("Bytewright::Handle") } map { /\A(\w+)::\z/ ? $1 : () } keys(%Bytewright::);
my %public = map { $_ => 1 } map { methods($_) } @classes, "Questions", "Error";
is_deeply([grep { !$known{$_} } sort(keys(%public))], [],
    "each public method is of an operation in METHODS, or in PLAIN if it does no input or output");
is_deeply([grep { !$public{$_} } sort(keys(%known))], [], "and each of these is there");
my @names = sort(map { $_->{name} } @{ $table->{operations} });
is_deeply([sort(keys(%OPERATIONS), keys(%NOT_OFFERED))], \@names, "each operation has a class in OPERATIONS, or a reason in NOT_OFFERED");
is_deeply([sort(keys(%METHODS))], [sort(keys(%OPERATIONS))], "and the methods that do it in METHODS");
is_deeply([sort(keys(%Troubles::DRIVERS))], [sort(keys(%{ $table->{troubles} }))], "each trouble has a driver");

done_testing();
