# Goal: Perl does what every face must do alike.
# Method: the cases of conformance/, which its README explains. What this runner does not know fails. Thrift's messages are not
# for Perl, and troubles.t runs the table of troubles.
use 5.030;
use warnings;

use lib "$ENV{BYTEWRIGHT_ROOT}/perl/t/lib";

use Bytewright;
use Bytewright::ADB;
use Cwd qw(getcwd);
use Digest::SHA ();
use File::Temp qw(tempdir);
use JSON::PP ();
use Kinds;
use Test::More;

binmode(Test::More->builder->$_, ":utf8") for qw(output failure_output);

my %RUNNERS = (adb => \&run_adb, tables => \&run_table, captures => \&run_capture, records => \&run_records, thrift => undef, troubles => undef);
my $folder = "$ENV{BYTEWRIGHT_ROOT}/conformance";
my $json = JSON::PP->new->canonical->allow_nonref;

for my $path (sort(glob("$folder/*.json"))) {
    my ($name) = $path =~ m{/(\w+)\.json\z};
    ok(exists($RUNNERS{$name}), "$name has a runner") or next;
    my $run = $RUNNERS{$name} or next;
    open(my $file, "<:raw", $path) or die "$path: $!";
    for my $case (@{ JSON::PP->new->utf8->decode(do { local $/; <$file> })->{cases} }) {
        subtest "$name: $case->{name}" => sub { $run->($case) };
    }
}

sub check_keys {
    my ($case, @known) = @_;
    my %rest = %$case;
    delete(@rest{@known});
    is(join(" ", sort(keys(%rest))), "", "no key that the runner does not know");
}

# Both as JSON of the same values: numbers as they are written, true and false as 1 and 0.
sub is_same {
    my ($found, $expected, $what) = @_;
    return is($json->encode(as_text($found)), $json->encode(as_text($expected)), $what);
}

sub as_text {
    my ($value) = @_;
    return ref($value) eq "ARRAY" ? [map { as_text($_) } @$value] : defined($value) ? "$value" : undef;
}

# Does the work, and compares the kind of its error with what the case raises, in the core's word, or nothing.
sub fails_as {
    my ($raises, $work) = @_;
    my $kind = eval { $work->(); 1 } ? undef : ref($@) ? $@->kind : $@;
    is($kind, defined($raises) ? lc($raises) : undef, $raises ? "raises $raises" : "raises nothing");
}

sub run_table {
    my ($case) = @_;
    check_keys($case, qw(name kinds steps));
    my %classes = (hash => ["Bytewright::HashTable", ".bwh"], tree => ["Bytewright::TreeTable", ".bwt"]);
    for my $kind (@{ $case->{kinds} }) {
        my ($class, $suffix) = @{ $classes{$kind} };
        for my $table ($class->new(utf8 => 1), $class->new(utf8 => 1, file => Kinds::path($suffix))) {
            run_step($table, $_) for @{ $case->{steps} };
        }
    }
}

sub run_step {
    my ($table, $step) = @_;
    check_keys($step, qw(do key value by from to prefix text steps gives raises outer beside inner end));
    return overlap($table, $step) if $step->{do} eq "overlap";
    my $found;
    fails_as($step->{raises}, sub { $found = done($table, $step) });
    is_same($found, $step->{gives}, $json->encode($step)) if exists($step->{gives});
}

sub done {
    my ($table, $step) = @_;
    my ($do, $key) = @$step{qw(do key)};
    return $table->get($key)                      if $do eq "get";
    return $table->put($key, $step->{value})      if $do eq "put";
    return $table->delete($key)                   if $do eq "delete";
    return $table->count                          if $do eq "size";
    return $table->increment($key, $step->{by})   if $do eq "increment";
    return pairs(($step->{prefix} ? $table->prefix($step->{prefix}) : $table->scan)->all) if $do eq "entries";
    return pairs($table->$do($key))->[0]          if $do eq "floor" || $do eq "ceiling";
    return $table->delete_range(map { $_ => $step->{$_} } qw(from to prefix)) if $do eq "delete range";
    if ($do eq "load") {
        my $path = Kinds::path(".dump");
        open(my $file, ">:raw", $path) or die;
        print $file $step->{text};
        close($file);
        return $table->load($path);
    }
    if ($do eq "keep" || $do eq "take back") {
        eval {
            $table->transaction(sub {
                run_step($table, $_) for @{ $step->{steps} };
                die "back\n" if $do eq "take back";
            });
        };
        return is($@, $do eq "keep" ? "" : "back\n", $do);
    }
    return fail("an operation that the runner does not know: $do");
}

# Transactions are objects: the outer one cannot end before the inner one.
sub overlap {
    my ($table, $step) = @_;
    my $end   = $step->{end} eq "keep" ? "commit" : "abort";
    my $outer = $table->txn;
    run_step($table, $_) for @{ $step->{outer} }, @{ $step->{beside} };
    my $inner = $table->txn;
    run_step($table, $_) for @{ $step->{inner} };
    my $kind = eval { $outer->$end; 1 } ? "none" : $@->kind;
    ok((grep { lc($_) eq $kind } @{ $step->{raises} }), "$end of the outer one raises one of the errors: $kind");
    $inner->abort;
    return ok($outer->$end, "and it ends after the inner one");
}

sub pairs {
    my (@entries) = @_;
    return [map { [@entries[2 * $_, 2 * $_ + 1]] } 0 .. @entries / 2 - 1];
}

sub run_adb {
    my ($case) = @_;
    check_keys($case, qw(name names tuning steps));
    my $home = getcwd();
    for my $name (@{ $case->{names} }) {
        chdir(tempdir(CLEANUP => 1)) or die;
        my $place = length($name) > 1 ? "casket$name" : $name;
        my $adb   = Bytewright::ADB->new;
        ok($adb->open($place . ($case->{tuning} // "")), "$name is opened");
        run_adb_step($adb, $place, $_) for @{ $case->{steps} };
        $adb->close;
    }
    chdir($home) or die;
}

sub run_adb_step {
    my ($adb, $place, $step) = @_;
    check_keys($step, qw(do with as tuning gives error));
    my ($do, @with) = ($step->{do}, @{ $step->{with} // [] });
    $adb = Bytewright::ADB->new if $do eq "open another";
    local $SIG{__WARN__} = sub { };
    my $found = $do =~ /^open/ ? $adb->open(($step->{as} // $place) . ($step->{tuning} // "")) : $adb->$do(@with);
    is_same($found, $step->{gives}, $json->encode($step));
    is($adb->error->kind, lc($step->{error}), "and its error") if $step->{error};
}

sub run_capture {
    my ($case) = @_;
    check_keys($case, qw(name capture cut indexed do fields field number by every rows count counts question options raises format sha256));
    my $path = "$ENV{BYTEWRIGHT_ROOT}/samples/$case->{capture}";
    if ($case->{indexed}) {
        $path = copied($path, $case->{cut} // 0);
        unlink("$path.bwi");
        eval { Bytewright::Capture->open($path)->index->next_row };
        ok(-e "$path.bwi", "an index");
        return run_from($path, $case);
    }
    # A file, a handle and bytes in memory give equal answers.
    my $bytes = cut($path, $case->{cut} // 0);
    open(my $handle, "<:raw", $path) or die "$path: $!";
    run_from($_, $case) for \$bytes, $case->{cut} ? () : ($path, $handle);
    return;
}

sub run_from {
    my ($input, $case) = @_;
    my $capture = Bytewright::Capture->open($input);
    return run_written($capture, $case) if $case->{do} eq "write flows";
    if ($case->{do} eq "count_by") {
        my $counts = $capture->count_by($case->{field});
        return is_same([map { [$_->[0], $counts->{ $_->[0] // "" }] } @{ $case->{counts} }], $case->{counts}, "counts");
    }
    my @fields = @{ $case->{fields} // [] };
    my @rows;
    fails_as($case->{raises}, sub {
        if ($case->{do} eq "frame") {
            my $packet = $capture->frame($case->{number}) // return;
            return push(@rows, [@{$packet}{@fields}]);
        }
        my $rows =
              $case->{do} eq "packets" ? $capture->packets(@fields)
            : $case->{do} eq "flows"   ? $capture->flows(fields => \@fields, %{ $case->{options} // {} })
            : $case->{do} eq "calls"   ? $capture->calls(fields => \@fields, %{ $case->{options} // {} })
            : $case->{do} eq "ask"     ? $capture->${ \$case->{question} }(%{ $case->{options} })
            : $case->{do} eq "sum"     ? $capture->sum(fields => \@fields, by => $case->{by}, every => $case->{every})
            :                            die "an operation that the runner does not know: $case->{do}";
        while (my @row = $rows->next_row) { push(@rows, \@row) }
    });
    is(scalar(@rows), $case->{count}, "rows");
    is_same([@rows[0 .. $#{ $case->{rows} }]], $case->{rows}, "the first of them");
}

sub run_written {
    my ($capture, $case) = @_;
    my ($into, $count) = (Kinds::path(".flows"));
    fails_as($case->{raises}, sub { $count = $capture->flows(into => $into, format => $case->{format}, %{ $case->{options} // {} }) });
    return ok(!-e $into, "no file") if $case->{raises};
    is($count, $case->{count}, "flows");
    open(my $file, "<:raw", $into) or die "$into: $!";
    my $bytes = do { local $/; <$file> };
    # Without the times at which it was written.
    $bytes =~ s/^#(?:open|close).*\n//mg if $case->{format} ne "ipfix";
    for (my $place = 0; $case->{format} eq "ipfix" && $place < length($bytes); $place += unpack("n", substr($bytes, $place + 2, 2))) {
        substr($bytes, $place + 4, 4) = "\0" x 4;
    }
    is(Digest::SHA::sha256_hex($bytes), $case->{sha256}, "their bytes");
}

sub run_records {
    my ($case) = @_;
    check_keys($case, qw(name template bytes count gives raises offset));
    my $bytes = pack("H*", $case->{bytes});
    my %ways  = (
        "one by one" => sub { my ($reader) = @_; return sub { $reader->unpack($case->{template}) } },
        "as rows"    => sub { my ($reader) = @_; my $rows = $reader->records($case->{template}); return sub { $rows->next_row } },
    );
    for my $way (sort(keys(%ways))) {
        my ($count, @found) = ($case->{count} // ~0);
        fails_as($case->{raises}, sub {
            my $next = $ways{$way}->(Bytewright::Reader->open(\$bytes));
            while ($count-- && (my @record = $next->())) { push(@found, \@record) }
        });
        is($@->offset, $case->{offset}, "the place, $way") if exists($case->{offset});
        is_same(\@found, [map { [map { ref($_) ? pack("H*", $_->{hex}) : $_ } @$_] } @{ $case->{gives} }], $way) if $case->{gives};
    }
}

# The bytes of a file without so many at its end.
sub cut {
    my ($path, $cut) = @_;
    open(my $whole, "<:raw", $path) or die "$path: $!";
    my $bytes = do { local $/; <$whole> };
    return substr($bytes, 0, length($bytes) - $cut);
}

sub copied {
    my ($path, $cut) = @_;
    my $copy = Kinds::path($path =~ s/.*?\././r);
    open(my $file, ">:raw", $copy) or die;
    print $file cut($path, $cut);
    close($file) or die;
    return $copy;
}

done_testing();
