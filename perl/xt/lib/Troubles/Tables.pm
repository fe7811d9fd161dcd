package Troubles::Tables;

# Operations on tables. Their base class has tables of both kinds, in memory and in files, and some that are used as Tokyo Cabinet's.

use 5.030;
use warnings;

use Bytewright;
use Bytewright::ADB;
use Config;
use Troubles;
use Troubles::Operation;

our @ISA = ("Troubles::Operation");
my %ENTRIES = %Troubles::ENTRIES;

our %OPERATIONS = (
    "open a table"            => "OpenATable",
    "read an entry"           => "ReadAnEntry",
    "change an entry"         => "ChangeAnEntry",
    "change many entries"     => "ChangeManyEntries",
    "walk a table"            => "WalkATable",
    "use a snapshot"          => "UseASnapshot",
    "run a transaction"       => "RunATransaction",
    "sync or compact a table" => "SyncOrCompactATable",
    "close a table"           => "CloseATable",
);

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
        Troubles::expect(!$table->_is_in_transaction, "no transaction");
        my %found = $table->scan->all;
        Troubles::expect(($found{$_} // "") eq $ENTRIES{$_}, "the entry $_") for keys(%ENTRIES);
    }
    return;
}

sub second {
    my ($self) = @_;
    for my $pair (["Bytewright::HashTable", "t.bwh"], ["Bytewright::TreeTable", "t.bwt"]) {
        my ($class, $name) = @$pair;
        Troubles::expect_kind("lock", sub { $class->new(file => $self->path($name), exclusive => 1, timeout => 0) });
        my $table = $class->new(file => $self->path($name), read_only => 1);
        Troubles::expect($table->get($_) eq $ENTRIES{$_}, "the entry $_") for keys(%ENTRIES);
    }
    Troubles::expect(!Bytewright::ADB->new->open($self->path("a.bwt#mode=wf")), "a lock");
    return;
}

sub itself {
    my ($self) = @_;
    $self->end;
    for my $table (@{ $self->{tables} }) { Troubles::expect_kind("closed", sub { $self->run_one($table) }) }
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

# A value whose text is made by code that closes a table.
{
    package Closing;
    use overload '""' => sub { my ($self) = @_; $self->{table}->close; return "x" x 1_000 };
}

{
    package OpenATable;
    our @ISA = ("Troubles::Operation");

    my @both = (["Bytewright::HashTable", "o.bwh"], ["Bytewright::TreeTable", "o.bwt"]);
    sub files { return ("o.bwh", "o.bwt") }
    sub set_up { my ($self) = @_; $self->{process} = $$; return }

    sub run {
        my ($self) = @_;
        # A forked child does not wait for its parent, which waits for the child.
        my ($timeout, @found) = ($self->{process} == $$ ? $Troubles::SECONDS_MAX : 0);
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
            Troubles::expect_kind("lock", sub { $class->new(file => $self->path($name), exclusive => 1, timeout => 0) });
        }
        return;
    }
}

{
    package ReadAnEntry;
    our @ISA = ("Troubles::Tables");

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
    our @ISA = ("Troubles::Tables");

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
            Troubles::expect_kind("closed", sub { $table->put("own", bless({ table => $table }, "Closing")) });
        }
        return $self->SUPER::itself;
    }
}

{
    package ChangeManyEntries;
    our @ISA = ("Troubles::Tables");

    sub run_one {
        my ($self, $table) = @_;
        my %own = map { ("own $_" => "x" x 100) } 1 .. 100;
        $table->put_many(%own);
        $table->put_many(\%own);
        my @found = grep { defined } $table->get_many(sort(keys(%own)));
        if ($table->isa("Bytewright::TreeTable")) {
            my $count = $table->delete_range(prefix => "own ");
            Troubles::expect($count == 100, "100 entries to delete, found $count");
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
            Troubles::expect_kind("closed", sub { $table->put_many(a => 1, own => bless({ table => $table }, "Closing")) });
        }
        return $self->SUPER::itself;
    }
}

{
    package WalkATable;
    our @ISA = ("Troubles::Tables");

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
            Troubles::expect($count == 200, "a scan that goes on, found $count entries");
        }
        return $self->SUPER::itself;
    }
}

{
    package UseASnapshot;
    our @ISA = ("Troubles::Tables");

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
            my $kind = Troubles::kind_of(sub { $value = $snapshot->get("key 007") });
            Troubles::expect(defined($kind) ? $kind eq "closed" : $value eq $ENTRIES{"key 007"}, "the value, or a closed table");
        }
        return $self->SUPER::itself;
    }
}

{
    package RunATransaction;
    our @ISA = ("Troubles::Tables");

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
            Troubles::expect_kind("closed|argument", sub { $table->txn(sub { $table->put("own", 1); $table->close }) });
            Troubles::expect($table->is_closed, "a closed table");
        }
        return $self->SUPER::itself;
    }
}

{
    package SyncOrCompactATable;
    our @ISA = ("Troubles::Tables");

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
    package CloseATable;
    our @ISA = ("Troubles::Tables");

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
        Troubles::expect_kind("closed", sub { $_->put("a", 1) }) for @{ $self->{tables} };
        for my $class ("Bytewright::HashTable", "Bytewright::TreeTable") {
            my $table = tie(my %hash, $class);
            $hash{a} = 1;
            Troubles::expect_kind("closed", sub { while (my ($key) = each(%hash)) { $table->close } });
            untie(%hash);
        }
        return;
    }
}

1;
