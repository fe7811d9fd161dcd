# Goal: nothing that copies or stores objects makes an empty one of them.
# Method: Storable's functions, and what prints data, over every object and every tied hash.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Data::Dumper ();
use JSON::PP ();
use Kinds;
use Storable ();
use Test::More;

my %STORE = (
    freeze  => \&Storable::freeze,
    nfreeze => \&Storable::nfreeze,
    dclone  => \&Storable::dclone,
    store   => sub { Storable::store($_[0], Kinds::path(".storable")) },
);

sub is_refused {
    my ($data, $advice, $what) = @_;
    for my $name (sort(keys(%STORE))) {
        ok(!eval { $STORE{$name}->($data); 1 }, "$what: $name is refused");
        like("$@", qr/^expected data of Perl's to store or to copy, found a Bytewright::\w+; store \Q$advice\E/, "and says what to do");
    }
}

for my $kind (Kinds::tied_ones()) {
    my ($name, $class, @options) = @$kind;
    subtest "with $name" => sub {
        my $table = tie(my %hash, $class, @options);
        %hash = (a => 1, b => 2);
        is_refused(\%hash, "a copy of its entries", "the tied hash");
        is_refused({ inside => [$table] }, "a copy of its entries", "its object, inside of others");
        is_deeply(Storable::dclone({ %hash }), { a => 1, b => 2 }, "a copy of the entries is stored");
        is_deeply(JSON::PP::decode_json(JSON::PP::encode_json(\%hash)), { a => 1, b => 2 }, "JSON has the entries");
        ok(!eval { JSON::PP::encode_json([$table]); 1 }, "and refuses the object");
        like(Data::Dumper->new([\%hash])->Sortkeys(1)->Indent(0)->Dump, qr/'a' => '1','b' => '2'/, "Data::Dumper, too");
    };
}

my $tree = Bytewright::TreeTable->new;
my $reader = Bytewright::Reader->open(\"ab");
for my $object ($tree->scan, $tree->snapshot, $tree->cursor, $tree->txn, $reader, $reader->records("C")) {
    is_refused($object, "what it reads", ref($object));
}
is_refused(Bytewright::Writer->open(\*STDOUT), "what it writes", "a writer");

done_testing();
