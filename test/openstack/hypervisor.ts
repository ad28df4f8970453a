// A node whose machines run: libvirt with qemu, and Neutron's agents, in a network of the rig's own.
import path from 'node:path';
import { addresses, busPort, EXTERNAL, fileOf, HERE, ini, type Settings } from './configuration.ts';

/** The bridge of the physical network. The rig has the address of the gateway there, and so is outside. */
const BRIDGE = 'brext';
const GATEWAY = '198.18.0.1';
/** Seconds. */
const REPORT_EACH = 3;

/** The folders that stand for /run and for parts of /var, which have programs' sockets and what they keep. */
const PLACES = { 'run/system': '/run', 'var/lib': '/var/lib', 'var/cache': '/var/cache', 'var/log': '/var/log' };
export const HYPERVISOR_FOLDERS = [...Object.keys(PLACES), 'run/system/lock'];

export const libvirtSocket = (folder: string): string => path.join(folder, 'run/system/libvirt/libvirt-sock');

/** Libvirt doesn't start without this user, even if its configuration names another one. */
const USER = `if ! grep -q ^libvirt-qemu: /etc/passwd; then
  echo 'libvirt-qemu:x:0:0::/:/bin/sh' >>/etc/passwd
  echo 'libvirt-qemu:x:0:' >>/etc/group
fi`;

/** What the rig's first process also does. A listener outside passes connections on to the services inside. */
export const HYPERVISOR = {
  outside: `${Object.entries(PLACES)
    .map(([name, place]) => `mount --bind "$1/${name}" ${place}`)
    .join('\n')}
${USER}
ip netns add rig
haproxy -D -f "$1/etc/haproxy.conf"
enter='nsenter --net=/run/netns/rig'`,
  // The links of a network are in the sysfs that was mounted in it.
  inside: `mount -t sysfs sysfs /sys
ip link set lo up
ip link add ${BRIDGE} type bridge
ip address add ${GATEWAY}/24 dev ${BRIDGE}
ip link set ${BRIDGE} up`,
};

/** Fails where the processor or the kernel lacks what machines and Neutron's agents need. */
export const TRIAL = `[ "$(uname -m)" = x86_64 ] || { echo 'and a processor like x86' >&2; exit 1; }
stat /dev/net/tun >/dev/null
ip link add type bridge
ip link add type veth
ip link add type vxlan id 1 dstport 4789
xtables-nft-multi iptables --append FORWARD --match physdev --physdev-is-bridged
xtables-nft-multi ebtables --append FORWARD --protocol ARP
ipset create trial hash:net`;

/** Returns the text of each file below the folder, by name. */
export function hypervisorFiles(settings: Settings): Record<string, string> {
  const { folder } = settings;
  return {
    'etc/haproxy.conf': forwarding(settings),
    'etc/agents.ini': ini({
      DEFAULT: {
        interface_driver: 'linuxbridge',
        enable_metadata_proxy: false,
        dnsmasq_config_file: fileOf(folder, 'dnsmasq.conf'),
      },
      // All runs as root already: our sudo starts the program itself.
      agent: { root_helper: 'sudo', report_interval: REPORT_EACH },
      linux_bridge: { bridge_mappings: `${EXTERNAL}:${BRIDGE}` },
      vxlan: { local_ip: GATEWAY },
    }),
    // Another user may not enter the folder.
    'etc/dnsmasq.conf': 'user=root\n',
    'system/etc/libvirt/libvirtd.conf': 'auth_unix_rw = "none"\nunix_sock_group = "root"\n',
    'system/etc/libvirt/qemu.conf': QEMU,
    ...Object.fromEntries(FILTERS.map((name) => [`system/usr/sbin/${name}`, filter(name)])),
    'system/usr/sbin/ebtables': EBTABLES,
  };
}

/** Without a daemon for logs, control groups and users of its own. */
const QEMU = `user = "root"
group = "root"
security_driver = "none"
stdio_handler = "file"
namespaces = []
cgroup_controllers = []
`;

function forwarding({ port }: Settings): string {
  const ports = [...Object.values(addresses(port)).map((url) => Number(new URL(url).port)), busPort(port)];
  return [
    'global\n  nbthread 1',
    'defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h',
    ...ports.map((each) => `listen ${each}\n  bind ${HERE}:${each}\n  server inside ${HERE}:${each} namespace rig`),
    '',
  ].join('\n');
}

/** A package's installation would link these to the programs for nftables. */
const FILTERS = ['iptables', 'ip6tables'].flatMap((name) => [name, `${name}-save`, `${name}-restore`]);
const filter = (name: string): string => `#!/bin/sh
exec xtables-nft-multi ${name} "$@"
`;

/**
 * Debian 12's ebtables shows the byte 0a of an address as "a" and can't delete such a rule. Neutron's agent would take
 * it for a wrong one and try for ever, and no machine would get its network any more.
 */
const EBTABLES = String.raw`#!/bin/sh
case " $* " in
*' -L '*) ebtables-nft "$@" | sed -E '/--among-src/{:again;s/:([0-9a-f])([:,= ]|$)/:0\1\2/;t again}' ;;
*' -D '*--among-src*) ebtables-nft "$@" 2>/dev/null || true ;;
*) exec ebtables-nft "$@" ;;
esac
`;
