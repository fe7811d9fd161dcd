# Ours: two integers of every packet, from rows of these fields.
#
#   perl capture_fields.pl CAPTURE

use 5.030;
use warnings;

use Bytewright;

my $rows = Bytewright::Capture->open($ARGV[0])->packets("src_port", "length");
my ($packets, $sum) = (0, 0);
while (my ($port, $length) = $rows->next_row) {
    $packets++;
    $sum += $port + $length if defined($port);
}
print "{\"packets\":$packets,\"sum\":$sum}\n";
