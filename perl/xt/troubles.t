# Goal: each operation survives each trouble: nothing that was committed is lost, nothing is half there, and the next run is right.
# Method: the table of conformance/troubles.json. An operation is a class with a set-up in a folder, `run`, which answers the
# same each time, and `itself`, which aims it at itself. One driver for each trouble works for all of them. Every method of the face
# is of an operation, or plain: one that does no input or output, calls nobody and waits for nothing. The seed is printed.
use 5.030;
use warnings;

use Config;
use if $Config{useithreads}, "threads";

use Bytewright;
use Bytewright::ADB;
use Errno ();
use File::Copy ();
use File::Temp qw(tempdir);
use JSON::PP ();
use POSIX ();
use Test::More;
use Time::HiRes qw(setitimer ITIMER_REAL);

my $ROOT    = $ENV{BYTEWRIGHT_ROOT};
my $CAPTURE = "$ROOT/samples/tunnels.pcap";
my %ENTRIES = map { sprintf("key %03d", $_) => "value $_" } 0 .. 199;
# No child runs so long but where it hangs.
my $SECONDS_MAX = 60;

my $seed = $ENV{BYTEWRIGHT_SEED} // time();
srand($seed);

sub told { return JSON::PP->new->canonical->allow_nonref->encode($_[0]) }

# The kind of error that work ends with, or nothing. What a handler of a signal dies with goes on.
sub kind_of {
    my ($work) = @_;
    return if eval { $work->(); 1 };
    die $@ if !Bytewright::Error::_is($@);
    return $@->kind;
}

sub expect { my ($is_so, $what) = @_; $is_so or die "expected $what" }

sub expect_kind {
    my ($kind, $work) = @_;
    my $found = kind_of($work) // "none";
    expect($found =~ /\A(?:$kind)\z/, "an error of the kind $kind, found $found");
    return;
}

# The bytes of a file; none where there is no file.
sub content {
    my ($path) = @_;
    open(my $file, "<:raw", $path) or return "";
    local $/;
    return scalar(<$file>);
}

# Operations.

{
    package Operation;

    sub new {
        my ($class, $folder) = @_;
        my $self = bless { folder => $folder }, $class;
        $self->set_up;
        return $self;
    }

    sub set_up { }
    # Ends what is open, twice.
    sub end { }
    # Dies where something of what was there is not.
    sub check { }
    # Returns the beginnings of the names of files that it may leave.
    sub files { return () }
    sub path { my ($self, $name) = @_; return "$self->{folder}/$name" }

    # Runs on the same files by another object; that one may be refused.
    sub second {
        my ($self) = @_;
        my $other;
        my $kind = main::kind_of(sub { $other = ref($self)->new($self->{folder}) });
        return main::expect($kind eq "lock", "a lock") if defined($kind);
        main::expect(main::told($other->run) eq main::told($self->run), "the same of another object");
        $other->end;
        return;
    }
}

# An operation on tables of both kinds, in memory and in files, and on some that are used as Tokyo Cabinet's.
{
    package Tables;
    our @ISA = ("Operation");

    sub set_up {
        my ($self) = @_;
        $self->{tables} = [
            Bytewright::HashTable->new, Bytewright::TreeTable->new,
            Bytewright::HashTable->new(file => $self->path("t.bwh"), exclusive => 1), Bytewright::TreeTable->new(file => $self->path("t.bwt"), exclusive => 1),
        ];
        $_->put_many(%ENTRIES) for @{ $self->{tables} };
        $self->{adbs} = [map { my $adb = Bytewright::ADB->new; $adb->open($_) or die $adb->error; $adb } "*", $self->path("a.bwt#mode=wcf")];
        for my $adb (@{ $self->{adbs} }) { $adb->put($_, $ENTRIES{$_}) for sort(keys(%ENTRIES)) }
        return;
    }

    sub files { return qw(t.bwh t.bwt a.bwt) }

    sub run {
        my ($self) = @_;
        return [(map { $self->run_one($_) } @{ $self->{tables} }), (map { $self->run_adb($_) } @{ $self->{adbs} })];
    }

    sub run_adb { return "nothing" }

    sub end {
        my ($self) = @_;
        for (1 .. 2) { $_->close for @{ $self->{tables} }, @{ $self->{adbs} } }
        return;
    }

    sub check {
        my ($self) = @_;
        for my $table (@{ $self->{tables} }) {
            main::expect(!$table->_is_in_transaction, "no transaction");
            my %found = $table->scan->all;
            main::expect(($found{$_} // "") eq $ENTRIES{$_}, "the entry $_") for keys(%ENTRIES);
        }
        return;
    }

    sub second {
        my ($self) = @_;
        for my $pair (["Bytewright::HashTable", "t.bwh"], ["Bytewright::TreeTable", "t.bwt"]) {
            my ($class, $name) = @$pair;
            main::expect_kind("lock", sub { $class->new(file => $self->path($name), exclusive => 1, timeout => 0) });
            my $table = $class->new(file => $self->path($name), read_only => 1);
            main::expect($table->get($_) eq $ENTRIES{$_}, "the entry $_") for keys(%ENTRIES);
        }
        main::expect(!Bytewright::ADB->new->open($self->path("a.bwt#mode=wf")), "a lock");
        return;
    }

    sub itself {
        my ($self) = @_;
        $self->end;
        for my $table (@{ $self->{tables} }) { main::expect_kind("closed", sub { $self->run_one($table) }) }
        return;
    }

    # Writes until the disk is full; the other file is tried, too.
    sub grow {
        my ($self) = @_;
        my $failure;
        for my $table (@{ $self->{tables} }[2, 3]) {
            undef($failure);
            eval { $self->grow_one($table, $_) for 1 .. 10_000; 1 } or $failure = $@;
            die "expected a full disk" if !$failure;
            die $failure if !Bytewright::Error::_is($failure) || $failure->kind ne "io";
        }
        die $failure;
    }

    sub grow_one { my ($self, $table, $number) = @_; return $table->put("more $number", "x" x 10_000) }
}

# A value whose text is made by code that closes a table.
{
    package Closing;
    use overload '""' => sub { my ($self) = @_; $self->{table}->close; return "x" x 1_000 };
}

{
    package OpenATable;
    our @ISA = ("Operation");

    my @both = (["Bytewright::HashTable", "o.bwh"], ["Bytewright::TreeTable", "o.bwt"]);
    sub files { return ("o.bwh", "o.bwt") }
    sub set_up { my ($self) = @_; $self->{process} = $$; return }

    sub run {
        my ($self) = @_;
        # A forked child does not wait for its parent, which waits for the child.
        my ($timeout, @found) = ($self->{process} == $$ ? $SECONDS_MAX : 0);
        for my $pair (@both) {
            my ($class, $name) = @$pair;
            tie(my %hash, $class, file => $self->path($name), timeout => $timeout);
            $hash{a} = 1;
            push(@found, {%hash});
            untie(%hash);
        }
        my $adb = Bytewright::ADB->new;
        $adb->open("+") or die $adb->error;
        return [@found, $adb->close];
    }

    sub grow {
        my ($self) = @_;
        for my $number (1 .. 10_000) {
            my $table = Bytewright::TreeTable->new(file => $self->path("o.bwt"));
            $table->put_many(map { ("more $number $_" => "x" x 10_000) } 1 .. 30);
            $table->close;
        }
        return;
    }

    sub itself {
        my ($self) = @_;
        for my $pair (@both) {
            my ($class, $name) = @$pair;
            my $table = $class->new(file => $self->path($name));
            main::expect_kind("lock", sub { $class->new(file => $self->path($name), exclusive => 1, timeout => 0) });
        }
        return;
    }
}

{
    package UseACache;
    our @ISA = ("Operation");

    sub files { return ("c.bwc") }

    sub set_up {
        my ($self) = @_;
        $self->{process} = $$;
        $self->{caches}  = [Bytewright::Cache->new, $self->opened];
        return;
    }

    sub opened { my ($self) = @_; return Bytewright::Cache->new(file => $self->path("c.bwc"), timeout => $SECONDS_MAX) }

    # Others may use the file meanwhile: the keys are of the object's own.
    sub run {
        my ($self) = @_;
        return [map { $self->run_one($_) } @{ $self->{caches} }];
    }

    sub run_one {
        my ($self, $cache) = @_;
        my ($own, @found) = ("$$ $self->{process} " . ++$self->{runs});
        $cache->set("$own $_", $ENTRIES{$_}, tag => $own) for sort(keys(%ENTRIES));
        push(@found, map { $cache->get("$own $_") } sort(keys(%ENTRIES)));
        push(@found, !!$cache->exists("$own key 001"), !!$cache->add("$own key 001", "other"), $cache->take("$own key 001"), !!$cache->touch("$own key 002", -1));
        push(@found, $cache->increment("$own sum", 7), $cache->compute("$own made", sub { "made" }), $cache->expires_at("$own made"));
        push(@found, scalar(grep { /\A\Q$own\E / } $cache->keys), !!$cache->delete("$own sum"), !!$cache->delete("$own made"));
        push(@found, defined($cache->FIRSTKEY), defined($cache->NEXTKEY));
        $cache->expire;
        return [@found, $cache->evict($own)];
    }

    sub end { my ($self) = @_; for (1 .. 2) { $_->close for @{ $self->{caches} } } return }

    sub check {
        my ($self) = @_;
        for my $cache (@{ $self->{caches} }) {
            for my $key (grep { / key / } $cache->keys) {
                my ($name) = $key =~ /(key \d+)\z/;
                # Another process may have taken it out by now.
                my $found = $cache->get($key) // next;
                main::expect($found eq $ENTRIES{$name}, "the entry $name, found $found");
            }
        }
        return;
    }

    sub itself {
        my ($self) = @_;
        my $cache = $self->opened;
        main::expect_kind("closed", sub { $cache->compute("own", sub { $cache->close; return 1 }) });
        main::expect_kind("closed", sub { $cache->clear });
        return;
    }

    sub grow {
        my ($self) = @_;
        $self->{caches}[1]->set("more $_", "x" x 10_000) for 1 .. 10_000;
        return;
    }
}

{
    package ReadAnEntry;
    our @ISA = ("Tables");

    sub run_one {
        my ($self, $table) = @_;
        my @found = ($table->get("key 007"), $table->get("none"), !!$table->exists("key 008"), $table->get_many("key 001", "none"));
        return [@found, $table->count >= 200] if !$table->isa("Bytewright::TreeTable");
        return [@found, $table->first, $table->last, $table->floor("key 0075"), $table->ceiling("key 0075")];
    }

    sub run_adb { my ($self, $adb) = @_; return [$adb->get("key 007"), $adb->vsiz("key 008"), $adb->rnum >= 200] }
}

{
    package ChangeAnEntry;
    our @ISA = ("Tables");

    sub run_one {
        my ($self, $table) = @_;
        $table->put("own", 1);
        $table->append("own", 2);
        my @found = ($table->increment("own", 3), !!$table->create("own", "x"), !!$table->delete("own"), $table->incr("own"), !!$table->out("own"));
        return \@found;
    }

    sub run_adb {
        my ($self, $adb) = @_;
        $adb->out("own");
        my @found = map { !!$_ } ($adb->put("own", 1), $adb->putcat("own", 2), $adb->putkeep("own", 3), $adb->get("own"), $adb->out("own"));
        $adb->out("number");
        return [@found, $adb->addint("number", 5), !!$adb->out("number"), $adb->adddouble("number", 0.5), !!$adb->out("number")];
    }

    sub itself {
        my ($self) = @_;
        for my $table (@{ $self->{tables} }) {
            main::expect_kind("closed", sub { $table->put("own", bless({ table => $table }, "Closing")) });
        }
        return $self->SUPER::itself;
    }
}

{
    package ChangeManyEntries;
    our @ISA = ("Tables");

    sub run_one {
        my ($self, $table) = @_;
        my %own = map { ("own $_" => "x" x 100) } 1 .. 100;
        $table->put_many(%own);
        $table->put_many(\%own);
        my @found = grep { defined } $table->get_many(sort(keys(%own)));
        if ($table->isa("Bytewright::TreeTable")) {
            my $count = $table->delete_range(prefix => "own ");
            main::expect($count == 100, "100 entries to delete, found $count");
        } else {
            $table->transaction(sub { $table->delete($_) for keys(%own); return });
        }
        my $other = ref($table)->new;
        $other->put_many(\%own);
        $other->clear;
        return [scalar(@found), $other->count];
    }

    sub run_adb {
        my ($self, $adb) = @_;
        my $list = ["own 1", "a", "own 2", "b"];
        $adb->misc("putlist", $list);
        my $found = $adb->misc("getlist", ["own 1", "own 2"]);
        $adb->misc("outlist", ["own 1", "own 2"]);
        my $other = Bytewright::ADB->new;
        $other->open("*");
        $other->put("a", 1);
        return [$found, !!$other->vanish, $other->rnum];
    }

    sub grow_one { my ($self, $table, $number) = @_; return $table->put_many(map { ("more $number $_" => "x" x 10_000) } 1 .. 10) }

    sub itself {
        my ($self) = @_;
        for my $table (@{ $self->{tables} }) {
            main::expect_kind("closed", sub { $table->put_many(a => 1, own => bless({ table => $table }, "Closing")) });
        }
        return $self->SUPER::itself;
    }
}

{
    package WalkATable;
    our @ISA = ("Tables");

    sub run_one {
        my ($self, $table) = @_;
        my $scan = $table->scan;
        my @first = $scan->next;
        my @found = (scalar(@first), scalar(my @keys = $scan->keys), scalar(my @values = $table->values), [sort($table->keys)], [sort($table->scan->values)]);
        return [@found, changes_of($table)] if !$table->isa("Bytewright::TreeTable");
        my $cursor = $table->cursor;
        $cursor->seek("key 100");
        push(@found, $cursor->key, $cursor->value, $cursor->next && $cursor->entry, $cursor->prev && $cursor->key);
        push(@found, $cursor->first && $cursor->key, $cursor->last && $cursor->key);
        return [@found, $table->range(from => "key 010", to => "key 019", reverse => 1)->all, $table->prefix("key 02")->all];
    }

    # The changes of a table in a file; one in memory refuses.
    sub changes_of {
        my ($table) = @_;
        my $changes = eval { $table->changes_since };
        if (!$changes) {
            # A signal's handler may have died.
            die($@) if ref($@) ne "Bytewright::Error" || $@->kind ne "argument";
            return "none";
        }
        my %seen;
        while (my ($name, $key, $value) = $changes->next) { $seen{$key} = $value if $name eq "put" }
        return (\%seen, length($changes->position) > 0);
    }

    sub run_adb {
        my ($self, $adb) = @_;
        my %seen;
        $adb->iterinit;
        while (defined(my $key = $adb->iternext)) { $seen{$key} = $adb->get($key) }
        return [\%seen, [sort(@{ $adb->fwmkeys("key 1", -1) })]];
    }

    sub itself {
        my ($self) = @_;
        for my $table (@{ $self->{tables} }) {
            my ($scan, $count) = ($table->scan, 0);
            while (my ($key) = $scan->next) { $table->close; $count++ }
            main::expect($count == 200, "a scan that goes on, found $count entries");
        }
        return $self->SUPER::itself;
    }
}

{
    package UseASnapshot;
    our @ISA = ("Tables");

    sub run_one {
        my ($self, $table) = @_;
        my $snapshot = $table->snapshot;
        $table->put("own", 1);
        my %found = $snapshot->scan->all;
        my @found = (\%found, $snapshot->get("key 007"), !!$snapshot->exists("own"), $snapshot->count);
        $table->delete("own");
        return \@found if !$table->isa("Bytewright::TreeTable");
        return [@found, $snapshot->range(to => "key 003")->all, $snapshot->prefix("key 19")->all];
    }

    # An interrupted run leaves its entry.
    sub check { my ($self) = @_; $_->delete("own") for @{ $self->{tables} }; return $self->SUPER::check }

    sub itself {
        my ($self) = @_;
        for my $table (@{ $self->{tables} }) {
            my $snapshot = $table->snapshot;
            $table->close;
            my $value;
            my $kind = main::kind_of(sub { $value = $snapshot->get("key 007") });
            main::expect(defined($kind) ? $kind eq "closed" : $value eq $ENTRIES{"key 007"}, "the value, or a closed table");
        }
        return $self->SUPER::itself;
    }
}

{
    package RunATransaction;
    our @ISA = ("Tables");

    sub run_one {
        my ($self, $table) = @_;
        my @found = $table->txn(sub {
            $table->put("own", 1);
            eval { $table->txn(sub { $table->put("own", 2); die "inner\n" }); 1 } or $@ eq "inner\n" or die $@;
            my $inner = $table->transaction;
            $table->append("own", 1);
            $inner->commit;
            my $value = $table->get("own");
            $table->delete("own");
            return $value;
        });
        my $taken_back = $table->txn;
        $table->put("own", 1);
        $taken_back->abort;
        return [@found, $table->get("own")];
    }

    sub run_adb {
        my ($self, $adb) = @_;
        my @found;
        eval {
            push(@found, !!$adb->tranbegin);
            $adb->put("own", 1);
            push(@found, !!$adb->tranabort);
            push(@found, !!$adb->tranbegin, !!$adb->put("own", 2), !!$adb->trancommit, !!$adb->out("own"));
            1;
        } or do { my $error = $@; $adb->tranabort; die $error };
        return \@found;
    }

    sub grow_one {
        my ($self, $table, $number) = @_;
        return $table->txn(sub { $table->put("more $number $_", "x" x 10_000) for 1 .. 10; return });
    }

    sub itself {
        my ($self) = @_;
        for my $table (@{ $self->{tables} }) {
            main::expect_kind("closed|argument", sub { $table->txn(sub { $table->put("own", 1); $table->close }) });
            main::expect($table->is_closed, "a closed table");
        }
        return $self->SUPER::itself;
    }
}

{
    package SyncOrCompactATable;
    our @ISA = ("Tables");

    sub run_one {
        my ($self, $table) = @_;
        $table->sync;
        $table->compact;
        return $table->stat->{records} >= 200;
    }

    sub run_adb { my ($self, $adb) = @_; return [!!$adb->sync, !!$adb->optimize, $adb->size > 0] }

    sub grow_one { my ($self, $table, $number) = @_; $self->SUPER::grow_one($table, $number); return $table->sync }
}

{
    package BackATableUp;
    our @ISA = ("Tables");

    sub files { my ($self) = @_; return ($self->SUPER::files, "b") }

    sub run_one {
        my ($self, $table) = @_;
        my $path = $self->path("b." . ($table->isa("Bytewright::TreeTable") ? "bwt" : "bwh"));
        $table->backup($path, replace => 1);
        my $copy = ref($table)->new(file => $path, read_only => 1);
        return { map { ($_ => $copy->get($_)) } keys(%ENTRIES) };
    }

    sub run_adb { my ($self, $adb) = @_; unlink($self->path("b2.bwt")); return !!$adb->copy($self->path("b2.bwt")) }

    sub grow {
        my ($self) = @_;
        my $table = Bytewright::HashTable->new;
        $table->put_many(map { ($_ => "x" x 10_000) } 1 .. 300);
        return if eval { $table->backup($self->path("b")); 1 };
        my $failure = $@;
        main::expect(!-e $self->path("b"), "no file");
        die $failure;
    }

    sub itself {
        my ($self) = @_;
        for my $pair ([2, "t.bwh"], [3, "t.bwt"]) {
            my ($place, $name) = @$pair;
            main::expect_kind("lock|argument|io", sub { $self->{tables}[$place]->backup($self->path($name), replace => 1) });
        }
        $self->check;
        return $self->SUPER::itself;
    }
}

{
    package DumpATable;
    our @ISA = ("Tables");

    sub files { my ($self) = @_; return ($self->SUPER::files, "d") }

    sub run_one {
        my ($self, $table) = @_;
        my $path = $self->path("d");
        my @found;
        for my $format (qw(db lmdb sql)) {
            $table->dump($path, format => $format);
            my $copy = ref($table)->new;
            $copy->load($path);
            push(@found, { map { ($_ => $copy->get($_)) } keys(%ENTRIES) });
        }
        return \@found;
    }

    sub grow {
        my ($self) = @_;
        my $table = Bytewright::HashTable->new;
        $table->put_many(map { ($_ => "x" x 10_000) } 1 .. 300);
        return if eval { $table->dump($self->path("d")); 1 };
        my $failure = $@;
        main::expect(!-e $self->path("d"), "no file");
        die $failure;
    }

    sub itself {
        my ($self) = @_;
        for my $pair ([2, "t.bwh"], [3, "t.bwt"]) {
            my ($place, $name) = @$pair;
            main::expect_kind("argument", sub { $self->{tables}[$place]->dump($self->path($name), force => 1) });
        }
        $self->check;
        return $self->SUPER::itself;
    }
}

{
    package LoadADump;
    our @ISA = ("Tables");

    sub files { my ($self) = @_; return ($self->SUPER::files, "d") }

    sub run_one {
        my ($self, $table) = @_;
        my $path = $self->path("d");
        my $other = Bytewright::TreeTable->new;
        $other->put_many(%ENTRIES);
        $other->dump($path, format => "sql");
        return [$table->load($path), { map { ($_ => $table->get($_)) } keys(%ENTRIES) }];
    }

    sub grow_one {
        my ($self, $table, $number) = @_;
        my $other = Bytewright::HashTable->new;
        $other->put_many(map { ("more $number $_" => "x" x 10_000) } 1 .. 2);
        $other->dump($self->path("d"));
        return $table->load($self->path("d"));
    }

    sub itself {
        my ($self) = @_;
        for my $pair ([2, "t.bwh"], [3, "t.bwt"]) {
            my ($place, $name) = @$pair;
            main::expect_kind("format", sub { $self->{tables}[$place]->load($self->path($name)) });
        }
        $self->check;
        return $self->SUPER::itself;
    }
}

{
    package CloseATable;
    our @ISA = ("Tables");

    sub files { my ($self) = @_; return ($self->SUPER::files, "c") }

    sub run_one {
        my ($self, $table) = @_;
        # Two threads that close the same file at once would find each other's lock.
        my $path  = $self->path("c" . ($Config::Config{useithreads} ? threads->tid : 0) . ($table->isa("Bytewright::TreeTable") ? ".bwt" : ".bwh"));
        my $other = ref($table)->new(file => $path);
        $other->put("a", 1);
        $other->close;
        my $again = ref($table)->new(file => $path);
        return [!!$other->is_closed, $again->count, $again->get("a"), !!$table->is_closed || $table->count >= 200];
    }

    sub grow {
        my ($self) = @_;
        my $table = Bytewright::TreeTable->new(file => $self->path("c.bwt"), sync => "never");
        $table->put($_, "x" x 10_000) for 1 .. 300;
        $table->close;
        return;
    }

    sub itself {
        my ($self) = @_;
        $self->end;
        main::expect_kind("closed", sub { $_->put("a", 1) }) for @{ $self->{tables} };
        for my $class ("Bytewright::HashTable", "Bytewright::TreeTable") {
            my $table = tie(my %hash, $class);
            $hash{a} = 1;
            main::expect_kind("closed", sub { while (my ($key) = each(%hash)) { $table->close } });
            untie(%hash);
        }
        return;
    }
}

# An operation on one capture that is open.
{
    package Captures;
    our @ISA = ("Operation");

    sub set_up { my ($self) = @_; $self->{capture} = Bytewright::Capture->open($CAPTURE); return }
    sub end    { my ($self) = @_; $self->{capture}->close for 1 .. 2; return }

    sub itself {
        my ($self) = @_;
        $self->end;
        main::expect_kind("closed", sub { $self->run });
        return;
    }
}

{
    package OpenACapture;
    our @ISA = ("Operation");

    sub run {
        my @first;
        open(my $handle, "<:raw", $CAPTURE) or die;
        for my $input ($CAPTURE, $handle, \main::content($CAPTURE)) {
            my $capture = Bytewright::Capture->open($input, filter => "tcp or udp", inner => 1, jobs => 2);
            push(@first, $capture->next);
            $capture->close;
        }
        return \@first;
    }

    sub itself {
        my ($self) = @_;
        my $path = $self->path("cut.pcap");
        open(my $from, "<:raw", $CAPTURE) or die;
        my $bytes = do { local $/; <$from> };
        open(my $to, ">:raw", $path) or die;
        print $to $bytes;
        close($to) or die;
        my $capture = Bytewright::Capture->open($path);
        truncate($path, 100) or die;
        main::expect_kind("truncated", sub { 1 while $capture->next });
        unlink($path) or die;
        return;
    }
}

{
    package WalkThePacketsOfACapture;
    our @ISA = ("Captures");

    sub run {
        my ($self) = @_;
        my $rows = $self->{capture}->packets("src_ip", "length");
        my ($sum, $count, %seen) = (0, 0);
        while (my ($address, $length) = $rows->next_row) { $sum += $length; $seen{ $address // "" }++ }
        my $packets = Bytewright::Capture->open(\main::content($CAPTURE))->packets;
        while (my $packet = $packets->next) { $count++ }
        return [$sum, $count, \%seen, $rows->names];
    }

    sub itself {
        my ($self) = @_;
        main::expect_kind("closed", sub {
            my $rows = $self->{capture}->packets("length");
            while (my ($length) = $rows->next_row) { $self->end }
            while (my ($length) = $self->{capture}->packets("length")->next_row) { last }
        });
        return $self->SUPER::itself;
    }
}

{
    package ReadACaptureAsColumns;
    our @ISA = ("Captures");

    sub run {
        my ($self) = @_;
        my ($rows, $sum) = ($self->{capture}->packets("src_port", "length"), 0);
        while (my ($ports, $lengths) = $rows->next_columns) { $sum += $_ // 0 for @$ports, @$lengths }
        return $sum;
    }
}

{
    package SumUpACapture;
    our @ISA = ("Captures");

    sub run {
        my ($self) = @_;
        my $sums = $self->{capture}->sum(fields => ["length"], by => ["src_ip"], where => "length > 60");
        my @rows;
        while (my @row = $sums->next_row) { push(@rows, \@row) }
        return [\@rows, [map { [$_->next_row] } $self->{capture}->endpoints(top => 1)], $self->{capture}->count_by("proto"), $self->{capture}->info->{packets},
            Bytewright::Capture->open(\main::content($CAPTURE))->count_by("proto")];
    }
}

{
    package WalkTheFlowsOrCallsOfACapture;
    our @ISA = ("Captures");

    sub set_up { my ($self) = @_; $self->SUPER::set_up; $self->{calls} = Bytewright::Capture->open("$ROOT/samples/warehouse.pcap.zst"); return }
    sub end    { my ($self) = @_; $self->SUPER::end; $self->{calls}->close for 1 .. 2; return }

    sub run {
        my ($self) = @_;
        my $flows = $self->{capture}->flows(fields => ["src_ip", "packets", "bytes"]);
        my $calls = $self->{calls}->calls(fields => ["method", "latency", "arguments"], idl => "$ROOT/samples/warehouse.thrift", service => "Store");
        my @rows;
        for my $each ($flows, $calls) {
            while (my @row = $each->next_row) { push(@rows, \@row) }
        }
        return \@rows;
    }

    sub itself {
        my ($self) = @_;
        my ($calls, $count) = ($self->{calls}->calls, 0);
        main::expect_kind("closed", sub { while ($calls->next) { $self->{calls}->close if !$count++ } });
        return $self->SUPER::itself;
    }
}

{
    package MergeFlowsIntoAStore;
    our @ISA = ("Operation");

    sub files { return ("m.bwt") }
    sub set_up { my ($self) = @_; $self->{process} = $$; return }

    sub run {
        my ($self) = @_;
        my $merge = $self->merged($CAPTURE);
        my $store = Bytewright::FlowStore->open($self->path("m.bwt"));
        my @found = ($merge->{packets}, $store->count);
        $store->close;
        return \@found;
    }

    # While another one writes, the file is locked. A forked child does not wait for its parent, which waits for the child.
    sub merged {
        my ($self, $input) = @_;
        my $end = time() + $SECONDS_MAX;
        while (1) {
            my ($merge, $capture) = (undef, Bytewright::Capture->open($input));
            my $kind = main::kind_of(sub { $merge = $capture->flows(into => $self->path("m.bwt")) }) // return $merge;
            die $@ if $kind ne "lock" || $self->{process} != $$ || time() > $end;
        }
    }

    sub grow {
        my ($self) = @_;
        my $head = pack("V v2 V4", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1);
        for my $number (1 .. 10_000) {
            my @frames = map { pack("x12 n C2 n3 C2 n N2 n4", 0x0800, 0x45, 0, 28, 0, 0, 64, 17, 0, $number, 2, $_, 4, 8, 0) } 1 .. 500;
            my $bytes = join("", $head, map { pack("V4", $number, 0, length($_), length($_)) . $_ } @frames);
            Bytewright::Capture->open(\$bytes)->flows(into => $self->path("m.bwt"));
        }
        return;
    }

    sub itself {
        my ($self) = @_;
        $self->merged($CAPTURE);
        my $own = $self->path("m.bwt");
        main::expect_kind("format", sub { Bytewright::Capture->open($own)->flows(into => $own) });
        open(my $handle, "<:raw", $own) or die;
        main::expect_kind("argument", sub { Bytewright::Capture->open($handle)->flows(into => $own) });
        return;
    }
}

{
    package WalkAStoreOfFlows;
    our @ISA = ("MergeFlowsIntoAStore");

    sub set_up {
        my ($self) = @_;
        $self->SUPER::set_up;
        $self->merged($CAPTURE);
        $self->{store} = Bytewright::FlowStore->open($self->path("m.bwt"));
        return;
    }

    sub end { my ($self) = @_; $self->{store}->close for 1 .. 2; return }

    sub run {
        my ($self) = @_;
        my ($flows, @rows) = ($self->{store}->flows(fields => ["src_ip", "bytes"]));
        while (my @row = $flows->next_row) { push(@rows, \@row) }
        return [\@rows, $self->{store}->count];
    }

    sub itself {
        my ($self) = @_;
        my $flows = $self->{store}->flows;
        main::expect_kind("closed", sub { while ($flows->next) { $self->end } });
        return;
    }
}

{
    package WriteWhatWasReadToAFile;
    our @ISA = ("Captures");

    sub files { return ("f.json", "f.new") }

    sub run {
        my ($self) = @_;
        my ($path, $packets) = ($self->path("f.json"), $self->path("f.new.pcap"));
        my $flows   = $self->{capture}->flows(into => $path, format => "ecs");
        my $written = $self->{capture}->write_to($packets, force => 1);
        return [$flows, $written, -s $packets, main::content($path)];
    }

    # The file of before stays.
    sub grow {
        my ($self) = @_;
        my $path = $self->path("f.json");
        my $before = main::content($path);
        my $grown = Bytewright::Capture->open("$ROOT/samples/web.pcap.gz");
        return if eval { $grown->flows(into => $path, format => "ecs"); 1 };
        my $failure = $@;
        main::expect(main::content($path) eq $before, "the file of before");
        return if eval { $grown->write_to($self->path("f.new.pcap"), force => 1); 1 };
        die $failure if !Bytewright::Error::_is($@) || $@->kind eq "io";
        die $@;
    }

    sub itself {
        my ($self) = @_;
        my $own = $self->path("f.pcap");
        File::Copy::copy($CAPTURE, $own) or die;
        my $before = main::content($own);
        main::expect_kind("argument", sub { Bytewright::Capture->open($own)->flows(into => $own, format => "zeek", force => 1) });
        main::expect_kind("argument", sub { Bytewright::Capture->open($own)->write_to($own, force => 1) });
        main::expect(main::content($own) eq $before, "a capture as it was");
        unlink($own) or die;
        return $self->SUPER::itself;
    }
}

{
    package ReadValuesFromAStream;
    our @ISA = ("Operation");

    my $bytes = pack("C N n/a (Nn)1000 w d> a100", 1, 2, "abc", (map { ($_, $_ % 7) } 1 .. 1000), 300, 0.5, "rest");
    sub files { return ("r") }

    sub set_up {
        my ($self) = @_;
        return if -e $self->path("r");
        open(my $file, ">:raw", $self->path("r")) or die;
        print $file $bytes;
        close($file) or die;
        return;
    }

    sub run {
        my ($self) = @_;
        open(my $handle, "<:raw", $self->path("r")) or die;
        return [map { $self->read_all(Bytewright::Reader->open($_)) } $self->path("r"), \$bytes, $handle];
    }

    sub read_all {
        my ($self, $reader) = @_;
        my @found = ($reader->u8, $reader->u32be, $reader->read($reader->u16be), $reader->tell);
        push(@found, $reader->unpack("N n", 2), $reader->skip(6), $reader->eof);
        $reader->seek(3, 1);
        my ($rows, $sum) = ($reader->records("C"), 0);
        while (my ($byte) = $rows->next_row) { $sum += $byte }
        return [@found, $sum];
    }

    sub itself {
        my ($self) = @_;
        my $reader = Bytewright::Reader->open($self->path("r"));
        main::expect_kind("closed", sub { while (defined($reader->u8)) { $reader->close } });
        my $own = "ab" x 10_000;
        my $of_bytes = Bytewright::Reader->open(\$own);
        my ($rows, $count) = ($of_bytes->records("C"), 0);
        while (my ($byte) = $rows->next_row) { $own = "" if !$count++; $of_bytes->close }
        main::expect($count == 20_000, "all bytes, found $count");
        return;
    }
}

{
    package WriteValuesToAStream;
    our @ISA = ("Operation");

    my @numbers = map { $_ * $_ } 0 .. 5000;
    my $expected = pack("C N N d> w a*", 1, 2, 3, 0.5, 300, pack("N*", @numbers)) . "x" x 300_000;
    sub files { return ("w") }

    sub run {
        my ($self) = @_;
        # A file that is emptied is one's own: others would find it so.
        my ($anew, $of_handle) = map { $self->path(join("-", "w", $_, $$, $INC{"threads.pm"} ? threads->tid : 0)) } "anew", "handle";
        open(my $handle, ">:raw", $of_handle) or die;
        my @outputs = ([$self->path("w"), mode => "replace", sync => 1], [$anew], [$handle]);
        $self->write_all(Bytewright::Writer->open(@$_)) for @outputs;
        my @found = map { main::content($_) eq $expected } $self->path("w"), $anew, $of_handle;
        unlink($anew, $of_handle);
        return \@found;
    }

    sub write_all {
        my ($self, $writer, $count) = @_;
        $writer->u8(1)->u32be(2)->u32be(3)->f64be(0.5)->write(pack("w", 300))->flush;
        $writer->u32be($_) for @numbers;
        $writer->write("x" x 300_000) for 1 .. $count // 1;
        my $place = $writer->tell;
        # The die of a handler is no error of ours.
        eval { $writer->seek($place); 1 } or Bytewright::Error::_is($@) && $@->os_error == Errno::ESPIPE() or die $@;
        $writer->sync;
        $writer->close;
        return;
    }

    # The file of before stays.
    sub grow {
        my ($self) = @_;
        my $before = main::content($self->path("w"));
        my $writer = Bytewright::Writer->open($self->path("w"), mode => "replace");
        return if eval { $self->write_all($writer, 9); 1 };
        my $failure = $@;
        $writer->discard;
        main::expect(main::content($self->path("w")) eq $before, "the file of before");
        die $failure;
    }

    # The output is the input, and is replaced while it is read.
    sub itself {
        my ($self) = @_;
        $self->run;
        my $reader = Bytewright::Reader->open($self->path("w"));
        my $writer = Bytewright::Writer->open($self->path("w"), mode => "replace");
        while (defined(my $bytes = $reader->read(1000))) { $writer->write($bytes) }
        $writer->close;
        main::expect(main::content($self->path("w")) eq $expected, "what was read");
        main::expect_kind("closed", sub { $writer->u8(1) });
        return;
    }
}

my %OPERATIONS = (
    "open a table"                         => "OpenATable",
    "read an entry"                        => "ReadAnEntry",
    "change an entry"                      => "ChangeAnEntry",
    "change many entries"                  => "ChangeManyEntries",
    "walk a table"                         => "WalkATable",
    "use a cache"                          => "UseACache",
    "use a snapshot"                       => "UseASnapshot",
    "run a transaction"                    => "RunATransaction",
    "sync or compact a table"              => "SyncOrCompactATable",
    "back a table up"                      => "BackATableUp",
    "dump a table"                         => "DumpATable",
    "load a dump"                          => "LoadADump",
    "close a table"                        => "CloseATable",
    "open a capture"                       => "OpenACapture",
    "walk the packets of a capture"        => "WalkThePacketsOfACapture",
    "read a capture as columns"            => "ReadACaptureAsColumns",
    "sum up a capture"                     => "SumUpACapture",
    "walk the flows or calls of a capture" => "WalkTheFlowsOrCallsOfACapture",
    "merge flows into a store"             => "MergeFlowsIntoAStore",
    "walk a store of flows"                => "WalkAStoreOfFlows",
    "write what was read to a file"        => "WriteWhatWasReadToAFile",
    "read values from a stream"            => "ReadValuesFromAStream",
    "write values to a stream"             => "WriteValuesToAStream",
);
# Operations that Perl does not offer, and why.
my %NOT_OFFERED = (
    "run a transaction of a store"   => "stores hold objects of Ruby's",
    "write packets to a capture"     => "Perl has no writer of captures",
    "read a Thrift message"          => "Perl has no Thrift",
    "write a Thrift message"         => "Perl has no Thrift",
    "read a Thrift IDL file"         => "Perl has no Thrift",
);
# Troubles that this perl does not have, and why.
my %NO_TROUBLE = $Config{useithreads} ? () : (thread => "this perl has no ithreads");

# Troubles. Each driver takes an operation, and what it answers; what is not as it should be dies.

sub run_is {
    my ($operation, $expected) = @_;
    my $found = told($operation->run);
    expect($found eq $expected, "$expected, found $found");
    return;
}

# All is as it was, the next run is right, and nothing is left in the folder.
sub check {
    my ($operation, $expected) = @_;
    $operation->check;
    run_is($operation, $expected);
    $operation->end;
    my ($folder, @own) = ($operation->{folder}, $operation->files);
    for my $path (glob("$folder/{.[!.],}*")) {
        my $name = substr($path, length($folder) + 1);
        expect(scalar(grep { index($name, $_) == 0 } @own) && $name !~ /\.(?:new|part)\z/, "no file $name") if -e $path;
    }
    return;
}

sub with_handler {
    my ($handler, $work) = @_;
    local $SIG{ALRM} = $handler;
    my $is_done = eval { $work->(); 1 };
    my $error = $@;
    setitimer(ITIMER_REAL, 0);
    die $error if !$is_done;
    return;
}

# With a handler that runs every millisecond. It sets the timer again: of a timer that repeats, more signals than Perl keeps would
# wait where a call takes long.
sub in_signal {
    my ($operation, $expected) = @_;
    my ($count, $is_on) = (0, 1);
    with_handler(sub { $count++; setitimer(ITIMER_REAL, 0.001) if $is_on }, sub {
        setitimer(ITIMER_REAL, 0.001);
        run_is($operation, $expected) while $count < 30;
        $is_on = 0;
    });
    return check($operation, $expected);
}

# Left by the die of a handler, at random moments: it comes out whatever was under way.
sub in_raise {
    my ($operation, $expected) = @_;
    for my $round (1 .. 25) {
        my $is_raised = 0;
        my $is_whole = eval {
            with_handler(sub { $is_raised = 1; die { round => $round } }, sub {
                setitimer(ITIMER_REAL, 0.0001 + rand(0.004));
                $operation->run until $is_raised;
            });
            1;
        };
        my $error = $@;
        expect(!$is_whole && ref($error) eq "HASH" && $error->{round} == $round, "the die of the handler, found " . ($is_whole ? "none" : $error));
    }
    return check($operation, $expected);
}

# Runs work in a forked child, which is killed where it hangs. A handler may fork: what it blocks the child takes back.
sub in_child {
    my ($work) = @_;
    my $child = fork() // die "fork: $!";
    if (!$child) {
        $SIG{ALRM} = "DEFAULT";
        POSIX::sigprocmask(POSIX::SIG_UNBLOCK(), POSIX::SigSet->new(POSIX::SIGALRM()));
        alarm($SECONDS_MAX);
        my $is_done = eval { $work->(); 1 };
        print STDERR "in a child: $@" if !$is_done;
        POSIX::_exit($is_done ? 0 : 1);
    }
    local ($?, $!);
    1 while waitpid($child, 0) < 0 && $!{EINTR};
    expect($? == 0, "a child that ends well, found the status $?");
    return;
}

# With a bound on the length of files a bit above what is there, which a shell sets and this program, called anew, finds.
sub in_full {
    my ($operation, $expected) = @_;
    my ($class, $folder) = (ref($operation), $operation->{folder});
    $operation->end;
    my $length = 2000;
    for my $path (glob("$folder/*")) { $length = -s $path if -s $path > $length }
    # An ordered table writes pages, also to change what is there.
    my $room = (grep { /\.bwt$/ } glob("$folder/*")) ? 60_000 : 3000;
    in_child(sub {
        $SIG{XFSZ} = "IGNORE";
        exec("sh", "-c", 'ulimit -f "$0" && exec "$@"', int(($length + $room) / 512) + 1, $^X, (map { "-I$_" } grep { !ref } @INC), $0, "--full", $class, $folder)
            or die "exec: $!";
    });
    return check($class->new($folder), $expected);
}

if (@ARGV && $ARGV[0] eq "--full") {
    my (undef, $class, $folder) = @ARGV;
    my $operation = $class->new($folder);
    eval { $operation->grow; 1 } and die "expected a full disk\n";
    my $error = $@;
    die $error if !Bytewright::Error::_is($error);
    expect($error->kind eq "io" && ($error->os_error // 0) == Errno::EFBIG(), "EFBIG, found $error");
    # Open objects are left to the end of the program, which may warn.
    $SIG{__WARN__} = sub { };
    POSIX::_exit(0);
}

# In another ithread, which is refused what its parent opened and has objects of its own, while the parent runs it, too.
sub in_thread {
    my ($operation, $expected) = @_;
    my ($class, $folder) = (ref($operation), tempdir(CLEANUP => 1));
    my $thread = threads->create(sub {
        my $is_done = eval {
            my $found;
            my $kind = kind_of(sub { $found = told($operation->run) });
            expect(defined($kind) ? $kind =~ /\A(?:closed|lock)\z/ : $found eq $expected, "the parent's refused, found " . ($kind // $found));
            my $own = $class->new($folder);
            run_is($own, $expected) for 1 .. 5;
            check($own, $expected);
            1;
        };
        return $is_done ? "" : "$@";
    });
    eval { run_is($operation, $expected) while $thread->is_running; 1 } or do { my $error = $@; $thread->join; die $error };
    my $told = $thread->join;
    die $told if $told ne "";
    return check($operation, $expected);
}

# At random moments of it. The child runs it, or is told that what it has is the parent's, and closes it.
sub in_fork {
    my ($operation, $expected) = @_;
    for my $round (1 .. 5) {
        my $is_forked = 0;
        my $fork = sub {
            $is_forked = 1;
            in_child(sub {
                my $kind = kind_of(sub { $operation->run });
                expect($kind eq "closed" || $kind eq "lock", "what is the parent's refused, found $kind") if defined($kind);
                kind_of(sub { $operation->end });
            });
        };
        with_handler($fork, sub {
            setitimer(ITIMER_REAL, 0.0001 + rand(0.004));
            run_is($operation, $expected) until $is_forked;
        });
    }
    return check($operation, $expected);
}

sub in_second {
    my ($operation, $expected) = @_;
    $operation->second;
    return check($operation, $expected);
}

# Afterwards another object of the same files is right.
sub in_itself {
    my ($operation, $expected) = @_;
    $operation->itself;
    $operation->end;
    return check(ref($operation)->new($operation->{folder}), $expected);
}

my %DRIVERS = (
    signal => \&in_signal,
    raise  => \&in_raise,
    full   => \&in_full,
    thread => \&in_thread,
    fork   => \&in_fork,
    second => \&in_second,
    itself => \&in_itself,
);

note("BYTEWRIGHT_SEED=$seed");
open(my $file, "<:raw", "$ROOT/conformance/troubles.json") or die "troubles.json: $!";
my $table = JSON::PP->new->utf8->decode(do { local $/; <$file> });

for my $each (@{ $table->{operations} }) {
    my $class = $OPERATIONS{ $each->{name} } or next;
    my $first = $class->new(tempdir(CLEANUP => 1));
    my $expected = told($first->run);
    $first->end;
    for my $trouble (@{ $each->{troubles} }) {
        SKIP: {
            skip($NO_TROUBLE{$trouble}, 1) if $NO_TROUBLE{$trouble};
            my $driver  = $DRIVERS{$trouble} // sub { die "expected a driver for $trouble" };
            my $is_done = eval { $driver->($class->new(tempdir(CLEANUP => 1)), $expected); 1 };
            my $error = $@;
            ok($is_done, "$each->{name}: $trouble") or diag("with BYTEWRIGHT_SEED=$seed: ", ref($error) eq "HASH" ? told($error) : $error);
        }
    }
}

# Completeness.

# The methods that do each operation. A name of a table stands for both kinds.
my %METHODS = (
    "open a table"                         => [qw(Table->new Table->TIEHASH ADB->new ADB->TIEHASH ADB->open)],
    "read an entry"                        => [
        qw(Table->get Table->FETCH Table->exists Table->EXISTS Table->get_many Table->count Table->SCALAR),
        qw(TreeTable->first TreeTable->last TreeTable->floor TreeTable->ceiling ADB->get ADB->vsiz ADB->rnum),
    ],
    "change an entry"                      => [
        map({ "Table->$_" } qw(put STORE create append increment incr delete out DELETE)),
        map({ "ADB->$_" } qw(put putkeep putcat out addint adddouble)),
    ],
    "change many entries"                  => [qw(Table->put_many Table->clear Table->CLEAR ADB->misc ADB->vanish ADB->CLEAR TreeTable->delete_range)],
    "walk a table"                         => [
        map({ "Table->$_" } qw(keys values scan FIRSTKEY NEXTKEY)),
        map({ "TreeTable->$_" } qw(range prefix cursor)),
        map({ "Scan->$_" } qw(next all keys values)),
        map({ "Cursor->$_" } qw(first last next prev seek entry)),
        "Table->changes_since", "Changes->next",
        map({ "ADB->$_" } qw(iterinit iternext fwmkeys)),
    ],
    "use a cache"                          => [
        map({ "Cache->$_" } qw(new TIEHASH close get FETCH exists EXISTS expires_at set STORE add touch increment take DELETE delete evict expire)),
        map({ "Cache->$_" } qw(clear CLEAR count SCALAR volume keys FIRSTKEY NEXTKEY UNTIE compute)),
    ],
    "use a snapshot"                       => ["Table->snapshot", map { "Snapshot->$_" } qw(get exists count scan range prefix)],
    "run a transaction"                    => [
        qw(Table->transaction Table->txn Transaction->commit Transaction->abort ADB->tranbegin ADB->trancommit ADB->tranabort),
    ],
    "sync or compact a table"              => [qw(Table->sync Table->compact Table->stat ADB->sync ADB->optimize ADB->size)],
    "back a table up"                      => [qw(Table->backup ADB->copy)],
    "dump a table"                         => [qw(Table->dump)],
    "load a dump"                          => [qw(Table->load)],
    "close a table"                        => [qw(Table->close Table->UNTIE ADB->close ADB->UNTIE)],
    # A live capture needs rights of its own; what ends its rows is that of any other.
    "open a capture"                       => [qw(Capture->open Capture->live Capture->stop Capture->close Capture->next)],
    "walk the packets of a capture"        => [qw(Capture->packets Capture->frame Rows->next Rows->next_row)],
    "read a capture as columns"            => [qw(Rows->next_columns)],
    "sum up a capture"                     => [qw(Capture->sum Capture->count_by Capture->info Questions->endpoints Questions->index Questions->services)],
    "walk the flows or calls of a capture" => [qw(Capture->flows Capture->calls)],
    "merge flows into a store"             => [qw(Capture->flows)],
    "walk a store of flows"                => [map { "FlowStore->$_" } qw(open flows count close)],
    "write what was read to a file"        => [qw(Capture->flows Capture->write_to)],
    "read values from a stream"            => [
        "Reader->NUMBER", map { "Reader->$_" } qw(open close read seek skip eof unpack records),
    ],
    "write values to a stream"             => ["Writer->NUMBER", map { "Writer->$_" } qw(open close write seek flush sync discard)],
);
# Getters of what is in memory.
my @PLAIN = (
    qw(Table->is_closed Cache->is_closed Changes->position Cursor->key Cursor->value Rows->names Reader->tell Writer->tell Capture->damage Capture->index_fault Capture->live_counts ADB->path ADB->error),
    map { "Error->$_" } qw(kind message file offset os_error),
);
my $NUMBER = qr/\A(?:[iuf]\d+(?:le|be)?|varint|zigzag)\z/;

sub methods {
    my ($class) = @_;
    no strict "refs";
    my @names = grep { defined(&{"Bytewright::${class}::$_"}) && /\A[A-Za-z]/ } keys(%{"Bytewright::${class}::"});
    # Leaves out what every package has, and what `use` brings.
    return map { $class =~ /\A(?:Reader|Writer)\z/ && /$NUMBER/ ? "$class->NUMBER" : "$class->$_" } grep { !/\A(?:DESTROY|BEGIN|import|bootstrap|refaddr|STORABLE_freeze)\z/ } @names;
}

my %known  = map { $_ => 1 } @PLAIN, map { @$_ } values(%METHODS);
my @classes = grep { "Bytewright::$_"->isa("Bytewright::Handle") } map { /\A(\w+)::\z/ ? $1 : () } keys(%Bytewright::);
my %public = map { $_ => 1 } map { methods($_) } @classes, "Questions", "Error";
is_deeply([grep { !$known{$_} } sort(keys(%public))], [],
    "each public method is of an operation in METHODS, or in PLAIN if it does no input or output");
is_deeply([grep { !$public{$_} } sort(keys(%known))], [], "and each of these is there");
my @names = sort(map { $_->{name} } @{ $table->{operations} });
is_deeply([sort(keys(%OPERATIONS), keys(%NOT_OFFERED))], \@names, "each operation has a class in OPERATIONS, or a reason in NOT_OFFERED");
is_deeply([sort(keys(%METHODS))], [sort(keys(%OPERATIONS))], "and the methods that do it in METHODS");
is_deeply([sort(keys(%DRIVERS))], [sort(keys(%{ $table->{troubles} }))], "each trouble has a driver");

done_testing();
