package Troubles;

# Drivers of the troubles, and the inputs and checks that all operations share. A driver takes an operation and its answer; it dies
# where something is not as it should be.

use 5.030;
use warnings;

use Config;
use if $Config{useithreads}, "threads";

use Bytewright;
use Errno ();
use File::Temp qw(tempdir);
use JSON::PP ();
use POSIX ();
use Time::HiRes qw(setitimer ITIMER_REAL);

our $ROOT    = $ENV{BYTEWRIGHT_ROOT};
our $CAPTURE = "$ROOT/samples/tunnels.pcap";
our %ENTRIES = map { sprintf("key %03d", $_) => "value $_" } 0 .. 199;
# No child runs so long but where it hangs.
our $SECONDS_MAX = 60;

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

# Body of that program: writes until the disk is full.
sub fill {
    my ($class, $folder) = @_;
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

our %DRIVERS = (
    signal => \&in_signal,
    raise  => \&in_raise,
    full   => \&in_full,
    thread => \&in_thread,
    fork   => \&in_fork,
    second => \&in_second,
    itself => \&in_itself,
);

1;
