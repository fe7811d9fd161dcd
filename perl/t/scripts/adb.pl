# Calls the methods of TokyoCabinet::ADB, or of a class like it, and prints what they answer: t/adb.t compares.
#
#   perl adb.pl LIBRARY CLASS NAME
use 5.030;
use warnings;

my ($library, $class, $name) = @ARGV;
eval "require $library; 1" or die $@;

sub shown {
    my ($value) = @_;
    return "undef" if !defined($value);
    return "[" . join(", ", map { shown($_) } @$value) . "]" if ref($value);
    return $value eq "" ? "no" : $value eq "0" ? "false" : $value;
}

sub show { my ($what, @values) = @_; print("$what: ", join(", ", map { shown($_) } @values), "\n") }

my $adb = $class->new;
show("closed", $adb->put("a", "b"), $adb->get("a"), $adb->rnum, $adb->path, $adb->close);
show("open", $adb->open($name), $adb->open($name));
show("put", $adb->put("a", "1"), $adb->putkeep("a", "2"), $adb->putkeep("b", "2"), $adb->putcat("b", "3"), $adb->putcat("c", "4"));
show("get", map { $adb->get($_) } qw(a b c d));
show("vsiz", map { $adb->vsiz($_) } qw(a b d));
show("out", $adb->out("a"), $adb->out("a"), $adb->rnum);
$adb->put("key$_", "value $_") for 1 .. 5;
show("fwmkeys", [sort(@{ $adb->fwmkeys("key") })], scalar(@{ $adb->fwmkeys("key", 2) }), $adb->fwmkeys("z"), $adb->fwmkeys("key", 0));
show("addint", $adb->addint("i", 5), $adb->addint("i", -7), $adb->addint("b", 1), unpack("l", $adb->get("i")));
show("addint beyond", $adb->addint("most", 2**31 - 1), $adb->addint("most", 1));
show("adddouble", $adb->adddouble("d", 1.5), $adb->adddouble("d", 0.25), $adb->adddouble("b", 1));
$adb->iterinit;
my @keys;
while (defined(my $key = $adb->iternext)) { push(@keys, $key) }
show("iternext", [sort(@keys)], $adb->iternext);
for my $call (
    ["putlist", ["l1", "1", "l2", "2"]], ["getlist", ["l1", "no", "l2"]], ["outlist", ["l1"]], ["getlist", ["l1", "l2"]],
    ["getpart", ["key1", 6]], ["getpart", ["key1", 0, 5]], ["getpart", ["key1", 99]], ["put", ["m", "n"]], ["get", ["m"]],
    ["get", ["no"]], ["out", ["m"]], ["out", ["m"]], ["putkeep", ["b", "1"]], ["putcat", ["b", "1"]], ["nothing", []],
) {
    show("misc $call->[0]", $adb->misc(@$call));
}
my %found = @{ $adb->misc("regex", ["^key[12]", 0]) };
show("misc regex", map { ($_, $found{$_}) } sort(keys(%found)));
show("sync", $adb->sync, $adb->optimize, $adb->size > 0, length($adb->path) == length($name));
show("transaction", $adb->tranbegin, $adb->put("t", 1), $adb->tranabort, $adb->get("t"), $adb->tranbegin, $adb->put("t", 2),
    $adb->trancommit, $adb->get("t"));
show("vanish", $adb->vanish, $adb->rnum, $adb->close, $adb->close);

tie(my %hash, $class, $name) or die("no $name\n");
$hash{x} = 1;
$hash{y} = 2;
show("tie", exists($hash{x}), exists($hash{z}), $hash{y}, $hash{z});
delete($hash{x});
show("keys", [sort(keys(%hash))], [sort(values(%hash))]);
%hash = ();
show("clear", [keys(%hash)]);
@hash{ 1 .. 3 } = (4 .. 6);
show("slice", [@hash{ 2, 3 }]);
$hash{2} .= "!";
show("change", $hash{2});
