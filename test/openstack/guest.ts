// A tiny system for machines: Debian's kernel, and busybox with a web server. It says what it sees of its disks and of
// other machines.
import fs from 'node:fs';
import path from 'node:path';
import type { Program } from './machine.ts';
import { ROOT } from './packages.ts';

/** In the order in which they need one another. */
const MODULES = [
  ...['virtio_ring', 'virtio', 'virtio_pci_legacy_dev', 'virtio_pci_modern_dev', 'virtio_pci'],
  ...['failover', 'net_failover', 'virtio_net', 'virtio_blk', 'button', 'evdev'],
];
/** What the kernel is told at its start. */
export const COMMAND_LINE = 'console=ttyS0 rdinit=/init';

export const GUEST_FOLDERS = ['proc', 'sys', 'dev', 'bin', 'modules'].map((name) => `guest/root/${name}`);

const page = (command: string): string => `#!/bin/sh
echo 'Content-Type: text/plain'
echo
${command}
`;

/** By the name of the file below the rig's folder. */
export const GUEST_FILES = {
  'guest/root/init': `#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in ${MODULES.join(' ')}; do insmod /modules/$module.ko; done
ip link set lo up
ip link set eth0 up
udhcpc -q -i eth0 -t 60 -T 1 -A 1 -O mtu -s /bin/lease
acpid -l /dev/null
for port in 80 22; do httpd -p $port -h /www; done
while true; do
  cat /proc/partitions
  sleep 5
done
`,
  'guest/root/bin/lease': `#!/bin/sh
[ "$1" = bound ] || exit 0
ip address add $ip/$mask dev $interface
[ -z "$mtu" ] || ip link set $interface mtu $mtu
for gateway in $router; do ip route add default via $gateway; done
echo "LEASE $interface $ip/$mask, router $router, MTU $mtu"
`,
  // What acpid runs when Nova presses the power button.
  'guest/root/etc/acpi/PWRF/00000080': '#!/bin/sh\nsync\npoweroff -f\n',
  'guest/root/www/index.html': 'a machine\n',
  'guest/root/www/cgi-bin/disks': page('cat /proc/partitions'),
  // Asks another machine: ?10.0.0.2:80
  'guest/root/www/cgi-bin/neighbour': page('timeout 2 wget -q -O - "http://$QUERY_STRING/" || echo no answer'),
  // Its second disk: what it is told to keep there, and what is kept.
  'guest/root/www/cgi-bin/keep': page('echo "$QUERY_STRING" >/dev/vdb; sync'),
  'guest/root/www/cgi-bin/kept': page('head -n 1 /dev/vdb'),
};

/** Makes the files that Glance gets. */
export const guest = (folder: string): Program => ({
  command: 'sh',
  args: ['-c', BUILD, 'build', folder, ROOT, ...MODULES],
});

const BUILD = `set -e
cd "$1/guest/root"
packages=$2
shift 2
cp "$packages/usr/bin/busybox" bin/
for module; do find "$packages/usr/lib/modules" -name "$module.ko" -exec cp {} modules/ ';'; done
cp "$packages"/boot/vmlinuz-* ../kernel
find . | cpio --quiet -o -H newc | gzip -1 >../ramdisk`;

export const readGuest = (folder: string, part: 'kernel' | 'ramdisk'): Uint8Array<ArrayBuffer> =>
  new Uint8Array(fs.readFileSync(path.join(folder, 'guest', part)));
