"""Decoding of a capture for peers/dpkt.py and peers/spark_dpkt.py: seven columns of its packets, as lists."""

import socket

import dpkt


def internet(frame):
    """The outermost IP packet, or None."""
    packet = dpkt.ethernet.Ethernet(frame).data
    return packet if isinstance(packet, (dpkt.ip.IP, dpkt.ip6.IP6)) else None


def segment_of(packet):
    """Returns the part of an IP packet that has ports, or None."""
    segment = packet.data
    return segment if isinstance(segment, (dpkt.tcp.TCP, dpkt.udp.UDP)) else None


def lists(file):
    """Times in seconds, source and destination addresses, ports, protocols and lengths; None for nothing."""
    times, sources, destinations, source_ports, destination_ports, protocols, lengths = ([] for _ in range(7))
    for time, frame in dpkt.pcap.UniversalReader(file):
        times.append(time)
        lengths.append(len(frame))
        packet = internet(frame)
        segment = None if packet is None else segment_of(packet)
        source_ports.append(None if segment is None else segment.sport)
        destination_ports.append(None if segment is None else segment.dport)
        if packet is None:
            sources.append(None)
            destinations.append(None)
            protocols.append(None)
            continue
        is_old = isinstance(packet, dpkt.ip.IP)
        family = socket.AF_INET if is_old else socket.AF_INET6
        sources.append(socket.inet_ntop(family, packet.src))
        destinations.append(socket.inet_ntop(family, packet.dst))
        protocols.append(packet.p if is_old else packet.nxt)
    return times, sources, destinations, source_ports, destination_ports, protocols, lengths
