package Troubles::Caches;

# Operations on caches.

use 5.030;
use warnings;

use Bytewright;
use Troubles;
use Troubles::Operation;

my %ENTRIES = %Troubles::ENTRIES;

our %OPERATIONS = (
    "use a cache" => "UseACache",
);

{
    package UseACache;
    our @ISA = ("Troubles::Operation");

    sub files { return ("c.bwc") }

    sub set_up {
        my ($self) = @_;
        $self->{process} = $$;
        $self->{caches}  = [Bytewright::Cache->new, $self->opened];
        return;
    }

    sub opened { my ($self) = @_; return Bytewright::Cache->new(file => $self->path("c.bwc"), timeout => $Troubles::SECONDS_MAX) }

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
                Troubles::expect($found eq $ENTRIES{$name}, "the entry $name, found $found");
            }
        }
        return;
    }

    sub itself {
        my ($self) = @_;
        my $cache = $self->opened;
        Troubles::expect_kind("closed", sub { $cache->compute("own", sub { $cache->close; return 1 }) });
        Troubles::expect_kind("closed", sub { $cache->clear });
        return;
    }

    sub grow {
        my ($self) = @_;
        $self->{caches}[1]->set("more $_", "x" x 10_000) for 1 .. 10_000;
        return;
    }
}

1;
