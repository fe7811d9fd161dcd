# Goal: a tied table is as good as a hash.
# Method: random operations on both, with keys that meet often and values of all lengths; the seed is printed.
# BYTEWRIGHT_OPERATIONS says how many, BYTEWRIGHT_SEED which.
use 5.030;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Bytewright;
use Bytewright::ADB;
use Kinds;
use Test::More;

my $seed       = $ENV{BYTEWRIGHT_SEED} // time;
my $operations = $ENV{BYTEWRIGHT_OPERATIONS} // 4_000;
diag("BYTEWRIGHT_SEED=$seed") if $ENV{BYTEWRIGHT_SEED};

sub random_bytes { return join("", map { chr(int(rand(256))) } 1 .. $_[0]) }
sub random_key   { return rand() < 0.8 ? "key " . int(rand(300)) : random_bytes(rand(4)) }
sub random_value { return random_bytes(rand() < 0.02 ? rand(5000) : rand(40)) }

my @steps = (
    sub { my ($key, $value) = (random_key(), random_value()); return sub { $_[0]{$key} = $value } },
    sub { my ($key, $value) = (random_key(), random_value()); return sub { $_[0]{$key} = $value } },
    sub { my ($key, $value) = (random_key(), random_value()); return sub { $_[0]{$key} .= $value; length($_[0]{$key}) } },
    sub { my $key = random_key(); return sub { delete($_[0]{$key}) } },
    sub { my $key = random_key(); return sub { $_[0]{$key} } },
    sub { my $key = random_key(); return sub { exists($_[0]{$key}) ? 1 : 0 } },
    sub { my @keys = map { random_key() } 1 .. rand(6); return sub { my @values = @{ $_[0] }{@keys}; join("|", map { $_ // "undef" } @values) } },
    sub { my @keys = map { random_key() } 1 .. rand(3); return sub { delete(@{ $_[0] }{@keys}); 1 } },
    sub { my $key = random_key(); return sub { $_[0]{$key} //= "default" } },
    sub { return sub { scalar(keys(%{ $_[0] })) } },
    sub { return sub { scalar(%{ $_[0] }) } },
    sub { return rand() < 0.02 ? sub { %{ $_[0] } = (one => 1, two => 2); 1 } : sub { 1 } },
);

sub entries { my ($hash) = @_; return join("\0", map { ($_, $hash->{$_}) } sort(keys(%$hash))) }

for my $kind (Kinds::tied_ones()) {
    my ($name, $class, @options) = @$kind;
    subtest "$name does what a hash does, seed $seed" => sub {
        srand($seed);
        tie(my %table, $class, @options) or BAIL_OUT("no $name");
        my %model;
        for my $number (1 .. $operations) {
            my $step = $steps[rand(@steps)]->();
            my ($expected, $found) = map { $step->($_) } \%model, \%table;
            next if ($expected // "undef") eq ($found // "undef") && ($number % 500 || entries(\%model) eq entries(\%table));
            fail("operation $number: BYTEWRIGHT_SEED=$seed");
            diag("expected ", $expected // "undef", ", found ", $found // "undef");
            return;
        }
        is(entries(\%table), entries(\%model), "at the end, seed $seed");
        my @keys = map { random_key() } 1 .. 500;
        is_deeply([tied(%table)->get_many(@keys)], [@model{@keys}], "get_many, seed $seed");
        while (my ($key, $value) = each(%table)) { return fail("each, seed $seed") if $model{$key} ne $value }
    };
}

done_testing();
