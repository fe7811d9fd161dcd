# Counts the words of a text in a table file that grows from run to run, and prints those that begin with a prefix:
# perl word_count.pl TABLE TEXT PREFIX
use 5.030;
use warnings;

use Bytewright;

@ARGV == 3 or die("usage: perl word_count.pl TABLE TEXT PREFIX\n");
my ($path, $text, $prefix) = @ARGV;

my %new;
open(my $lines, "<", $text) or die("$text: $!\n");
while (<$lines>) {
    $new{$_}++ for lc =~ /[a-z]+/g;
}

my $counts = tie(my %counts, "Bytewright::TreeTable", file => $path);
$counts->txn(sub { $counts{$_} += $new{$_} for keys(%new) });
say "$_ $counts{$_}" for grep { /^\Q$prefix/ } keys(%counts);
