# frozen_string_literal: true

require "mkmf"

abort "libpcap's headers are missing: apt-get install libpcap-dev" unless have_header("pcap/pcap.h")
abort "libpcap is missing: apt-get install libpcap-dev" unless have_library("pcap", "pcap_next_ex")

create_makefile("article_pcap")
