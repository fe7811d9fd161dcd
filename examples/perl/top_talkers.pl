# Lists the hosts that sent the most bytes, over all captures that are named: perl top_talkers.pl CAPTURE...
use 5.030;
use warnings;

use Bytewright;

@ARGV or die("usage: perl top_talkers.pl CAPTURE...\n");

my %sent;
for my $path (@ARGV) {
    my $flows = Bytewright::Capture->open($path)->flows(fields => [qw(src_ip bytes dst_ip rev_bytes)]);
    while (my ($source, $bytes, $destination, $back) = $flows->next_row) {
        $sent{$source}      += $bytes;
        $sent{$destination} += $back;
    }
}
my @hosts = sort { $sent{$b} <=> $sent{$a} || $a cmp $b } keys(%sent);
say "$sent{$_} $_" for splice(@hosts, 0, 5);
