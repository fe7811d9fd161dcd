# A writer of killed.py in Perl: perl worker.pl FILE KEY.
use 5.030;
use warnings;

use Bytewright;

my ($file, $own) = @ARGV;
my $class = $file =~ /\.bwt\z/ ? "Bytewright::TreeTable" : "Bytewright::HashTable";
my $table = $class->new(file => $file, timeout => 120);

sub in_transaction {
    my ($work) = @_;
    my $txn = $table->txn;
    $work->();
    $txn->commit;
    return;
}

sub transfer {
    my $amount = int(rand(100));
    in_transaction(sub { $table->increment("account " . int(rand(20)), $_) for $amount, -$amount });
    return;
}

sub pair {
    my $number = int(rand(1_000_000));
    in_transaction(sub { $table->put_many("pair a" => $number, "pair b" => $number) });
    return;
}

sub other {
    my $key = "other " . int(rand(200));
    rand() < 0.5 ? $table->put($key, $key x (1 + rand(300))) : $table->delete($key);
    return;
}

sub look {
    my $snapshot = $table->snapshot;
    my @pair     = map { $snapshot->get("pair $_") // "" } "a", "b";
    die "half a commit" if $pair[0] ne $pair[1];
    return;
}

while (1) {
    my $step = int(rand(1000));
    if    ($step == 0)  { $table->compact }
    elsif ($step < 3)   { look() }
    elsif ($step < 80)  { transfer() }
    elsif ($step < 140) { pair() }
    elsif ($step < 250) { other() }
    # One call, which the system writes whole or not at all.
    else { syswrite(STDOUT, $table->increment($own) . "\n") }
}
