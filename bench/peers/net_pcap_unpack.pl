# Peer: what a Perl program does today, a loop over the packets of Net::Pcap with `unpack`.
#
#   perl net_pcap_unpack.pl CAPTURE

use 5.030;
use warnings;

use Net::Pcap ();

my %IS_VLAN = map { $_ => 1 } 0x8100, 0x88a8, 0x9100;
my %HAS_PORTS = map { $_ => 1 } 6, 17;

my $error;
my $capture = Net::Pcap::open_offline($ARGV[0], \$error) or die "$error\n";
my ($packets, $sum) = (0, 0);
my %header;
while (defined(my $data = Net::Pcap::next($capture, \%header))) {
    $packets++;
    my $port = source_port($data);
    $sum += $port + $header{len} if defined($port);
}
print "{\"packets\":$packets,\"sum\":$sum}\n";

sub source_port {
    my ($data) = @_;
    my ($type, $offset) = (unpack('@12n', $data), 14);
    while ($IS_VLAN{$type}) {
        $type = unpack('@' . ($offset + 2) . 'n', $data);
        $offset += 4;
    }
    my $protocol;
    if ($type == 0x0800) {
        (my $version, $protocol) = unpack("\@${offset}Cx8C", $data);
        $offset += ($version & 0x0f) * 4;
    }
    elsif ($type == 0x86dd) {
        $protocol = unpack("\@${offset}x6C", $data);
        $offset += 40;
    }
    return $HAS_PORTS{ $protocol // 0 } ? unpack("\@${offset}n", $data) : undef;
}
