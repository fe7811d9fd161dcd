# Ours: two integers of every packet, from rows of these fields or from whole columns of them.
#
#   perl capture_fields.pl rows|columns CAPTURE

use 5.030;
use warnings;

use Bytewright;

my %READ = (rows => \&by_rows, columns => \&by_columns);
my ($how, $path) = @ARGV;
my $read = $READ{ $how // "" } or die "usage: $0 rows|columns CAPTURE\n";
my ($packets, $sum) = $read->(Bytewright::Capture->open($path)->packets("src_port", "length"));
print "{\"packets\":$packets,\"sum\":$sum}\n";

sub by_rows {
    my ($rows) = @_;
    my ($packets, $sum) = (0, 0);
    while (my ($port, $length) = $rows->next_row) {
        $packets++;
        $sum += $port + $length if defined($port);
    }
    return ($packets, $sum);
}

sub by_columns {
    my ($rows) = @_;
    my ($packets, $sum) = (0, 0);
    while (my ($ports, $lengths) = $rows->next_columns) {
        $packets += @$ports;
        for my $row (0 .. $#$ports) {
            $sum += $ports->[$row] + $lengths->[$row] if defined($ports->[$row]);
        }
    }
    return ($packets, $sum);
}
