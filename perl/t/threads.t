# Goal: an ithread makes objects of its own, and those of its parent neither work nor break there.
# Method: threads that have objects of all kinds when they begin, use them, and end.
use 5.030;
use warnings;

use Config;
use Test::More;

BEGIN {
    plan(skip_all => "this perl has no ithreads") if !$Config{useithreads};
}

use threads;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Kinds;

my $table = tie(my %hash, "Bytewright::HashTable");
$hash{a} = 1;
my $tree = Bytewright::TreeTable->new;
$tree->put(b => 2);
my $adb = Bytewright::ADB->new;
$adb->open("*");
my %made = (snapshot => $tree->snapshot, scan => $tree->scan, cursor => $tree->cursor);
my $txn  = $tree->txn;
my $reader = Bytewright::Reader->open(\"\1\2\3\4");
my $rows   = Bytewright::Reader->open(\"\5\6")->records("C");
my $output = Kinds::path(".bin");
my $writer = Bytewright::Writer->open($output)->write("once");
my $into    = Kinds::path(".bwt");
Bytewright::Capture->open(\pack("V v2 V4 V4 a14", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 1, 0, 14, 14, ""))->flows(into => $into);
my $store   = Bytewright::FlowStore->open($into);
my $capture = Bytewright::Capture->open(\pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1));

sub kind_of { my ($work) = @_; return eval { $work->(); 1 } ? "worked" : ref($@) ? $@->kind . ": " . $@->message : $@ }

for my $round (1 .. 3) {
    my @told = threads->create({ context => "list" }, sub {
        my $own = Bytewright::HashTable->new;
        $own->put(mine => 3);
        return (
            kind_of(sub { $table->get("a") }), kind_of(sub { $hash{a} }), kind_of(sub { $adb->get("a") }),
            kind_of(sub { $made{snapshot}->get("b") }), kind_of(sub { $made{scan}->next }), kind_of(sub { $made{cursor}->first }), kind_of(sub { $txn->commit }),
            kind_of(sub { $reader->u8 }), kind_of(sub { $writer->flush }), kind_of(sub { $rows->next_row }), kind_of(sub { $capture->next }), kind_of(sub { $store->count }),
            $own->get("mine"),
        );
    })->join;
    is(pop(@told), 3, "a thread has tables of its own");
    like($_, qr/^closed: expected the thread that made the (?:table|snapshot|scan|cursor|transaction|reader|writer|list of rows|capture|store of flows), found another one: make one here$/,
        "and not those of its parent") for @told;
}
is($hash{a}, 1, "which has them still");
is($tree->get("b"), 2);
ok($txn->commit, "its transaction is open");
is(scalar($made{snapshot}->count), 1);
is($reader->u32be, 0x01020304, "and nothing was read");
is_deeply([$rows->next_columns], [[5, 6]]);
is($writer->tell, 4);
$writer->close;
is(-s $output, 4, "nor written twice");
is($capture->next, undef);
is($store->count, 0);

done_testing();
