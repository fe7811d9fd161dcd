package Troubles::Backups;

# Operations that copy a table: backups and dumps.

use 5.030;
use warnings;

use Bytewright;
use Troubles;
use Troubles::Tables;

my %ENTRIES = %Troubles::ENTRIES;

our %OPERATIONS = (
    "back a table up" => "BackATableUp",
    "dump a table"    => "DumpATable",
    "load a dump"     => "LoadADump",
);

{
    package BackATableUp;
    our @ISA = ("Troubles::Tables");

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
        Troubles::expect(!-e $self->path("b"), "no file");
        die $failure;
    }

    sub itself {
        my ($self) = @_;
        for my $pair ([2, "t.bwh"], [3, "t.bwt"]) {
            my ($place, $name) = @$pair;
            Troubles::expect_kind("lock|argument|io", sub { $self->{tables}[$place]->backup($self->path($name), replace => 1) });
        }
        $self->check;
        return $self->SUPER::itself;
    }
}

{
    package DumpATable;
    our @ISA = ("Troubles::Tables");

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
        Troubles::expect(!-e $self->path("d"), "no file");
        die $failure;
    }

    sub itself {
        my ($self) = @_;
        for my $pair ([2, "t.bwh"], [3, "t.bwt"]) {
            my ($place, $name) = @$pair;
            Troubles::expect_kind("argument", sub { $self->{tables}[$place]->dump($self->path($name), force => 1) });
        }
        $self->check;
        return $self->SUPER::itself;
    }
}

{
    package LoadADump;
    our @ISA = ("Troubles::Tables");

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
            Troubles::expect_kind("format", sub { $self->{tables}[$place]->load($self->path($name)) });
        }
        $self->check;
        return $self->SUPER::itself;
    }
}

1;
