# Goal: CHI keeps its caches in our files.
# Method: what CHI promises of a driver: values, expiry, namespaces in one file, several objects. Its own suite for drivers passes as well;
# it takes modules of its own.
use 5.030;
use warnings;

use Bytewright;
use File::Temp qw(tempdir);
use Test::More;

eval { require CHI; 1 } or plan(skip_all => "CHI is not installed");

my $path = tempdir(CLEANUP => 1) . "/c.bwc";
my $of   = sub { return CHI->new(driver => "Bytewright", file => $path, @_) };
my ($first, $second) = map { $of->(namespace => $_) } "first", "a%\0b";

$first->set("ada", { year => 1815 }, "1 hour");
$first->set("gone", "x", { expires_at => time() - 1 });
$second->set("ada", "text");
is_deeply($first->get("ada"), { year => 1815 }, "a structure comes back");
is($first->get("gone"), undef, "what has expired does not");
is($first->get_object("gone")->value, "x", "but as an object");
is($of->(namespace => "a%\0b")->get("ada"), "text", "another object has the same");
is_deeply([sort($first->get_keys)], [qw(ada gone)], "keys are those of the namespace");
is_deeply([sort($first->get_namespaces)], ["a%\0b", "first"], "namespaces are told");
$first->clear;
is_deeply([$first->get_keys, $second->get_keys], ["ada"], "one is cleared alone");
is($first->compute("c", "1 hour", sub { 42 }), 42, "what is missing is computed");
$first->remove("c");
ok(!$first->is_valid("c"), "and removed");

my $backend = $of->(namespace => "b", expires_on_backend => 1);
$backend->set("k", "v", 60);
my ($key) = grep { /\0k\z/ } Bytewright::Cache->new(file => $path)->keys;
cmp_ok(Bytewright::Cache->new(file => $path)->expires_at($key), ">", time(), "the cache knows the expiry if it is told");

my $memory = CHI->new(driver => "Bytewright", count_limit => 10);
$memory->set($_, $_) for 1 .. 50;
cmp_ok(scalar($memory->get_keys), "<=", 10, "in memory, within its limits");

done_testing();
