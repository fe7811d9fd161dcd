# A user of a cache for killed_caches.py in Perl: perl cacher.pl FILE KEY.
use 5.030;
use warnings;

use Bytewright;

my ($file, $own) = @ARGV;
my $cache = Bytewright::Cache->new(file => $file, size_limit => 4 << 20, timeout => 120);

sub other {
    my $key = "other " . int(rand(2000));
    $cache->set($key, $key x (1 + rand(100)), expires_in => (0.01, 0.1, 10)[rand(3)], tag => substr($key, -1));
    return;
}

while (1) {
    my $step = int(rand(1000));
    if    ($step == 0)  { $cache->expire }
    elsif ($step < 3)   { $cache->evict(int(rand(10))) }
    elsif ($step < 10)  { $cache->delete("other " . int(rand(2000))) }
    elsif ($step < 500) { other() }
    # One call, which the system writes whole or not at all.
    else { syswrite(STDOUT, $cache->increment($own) . "\n") }
}
