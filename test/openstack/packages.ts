// Debian's packages of OpenStack, unpacked below the cache. Installing them would start services, make users and fill
// /etc; unpacked, they change nothing. The rig lays them over /usr for its own processes only.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { CACHE } from '../../scripts/cache.ts';
import { attempt } from '../../src/lib/errors.ts';

const PACKAGES = [
  ...['mariadb-server', 'python3-pymysql', 'rabbitmq-server', 'uwsgi-plugin-python3'],
  ...['keystone', 'placement-api', 'glance-api', 'cinder-api', 'cinder-scheduler', 'cinder-volume', 'neutron-server'],
  ...['nova-api', 'nova-scheduler', 'nova-conductor', 'nova-compute', 'nova-compute-kvm', 'nova-consoleproxy'],
  ...['neutron-linuxbridge-agent', 'neutron-l3-agent', 'neutron-dhcp-agent', 'ipset', 'iproute2', 'genisoimage'],
  ...['octavia-api', 'octavia-worker', 'octavia-health-manager', 'octavia-housekeeping', 'barbican-api'],
  'qemu-utils',
  // What machines boot.
  ...(process.arch === 'x64' ? ['busybox-static', 'linux-image-cloud-amd64'] : []),
];
/** Their services know the names of Debian 12's programs and files. */
const RELEASE = 'bookworm';
/** All folders of OpenStack in the cache. */
export const FOLDER = path.join(CACHE, 'openstack');
const hash = createHash('sha256').update(PACKAGES.join()).digest('hex').slice(0, 12);
const UNPACKED = path.join(FOLDER, `packages-${hash}`);
/** Has the `usr` and the `etc` of the packages. */
export const ROOT = path.join(UNPACKED, 'root');
/** Written last, so that an interrupted run doesn't count: which versions are there. */
const MARKER = path.join(UNPACKED, 'versions');

const PATIENCE = ['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=3'];
const REPORT_EACH = 50;

/** Returns the versions that are unpacked, or undefined if not all are. */
export const unpackedVersions = (): string | undefined => attempt(() => fs.readFileSync(MARKER, 'utf8'));

/** Returns why they can't be unpacked or used here; undefined if they can. */
export function whyNoPackages(): string | undefined {
  const release = attempt(() => fs.readFileSync('/etc/os-release', 'utf8')) ?? '';
  if (!release.includes(`VERSION_CODENAME=${RELEASE}\n`)) return 'it needs Debian 12';
  if (process.getuid?.() !== 0) return 'it needs root';
  return undefined;
}

/** Unpacks all that this system lacks. Returns why that failed. */
export async function unpackOpenStack(): Promise<string | undefined> {
  if (unpackedVersions() !== undefined) return undefined;
  console.log(`Unpacking OpenStack from Debian's packages to ${ROOT} ...`);
  const archives = path.join(UNPACKED, 'archives');
  try {
    fs.mkdirSync(path.join(archives, 'partial'), { recursive: true });
    const wanted = solve();
    await download(archives, wanted.length);
    fs.rmSync(ROOT, { recursive: true, force: true });
    makeRoot();
    await unpack(archives, wanted);
    await compile();
    fs.rmSync(archives, { recursive: true });
    fs.writeFileSync(MARKER, wanted.join('\n'));
    return undefined;
  } catch (error) {
    return `OpenStack: ${(error as Error).message}`;
  }
}

const installArgs = (archives: string, ...how: string[]): string[] => [
  ...PATIENCE,
  // It installs nothing and writes to our folder alone, which apt's own user may not enter.
  ...['-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=root', '-o', `Dir::Cache::archives=${archives}`],
  ...['install', '--yes', '--no-install-recommends', '--no-remove', ...how],
  ...PACKAGES,
];

/** Returns the names of the archives of all that is missing, as the solver of apt finds it. */
function solve(): string[] {
  // It leaves out what is downloaded, so that it doesn't see our folder.
  const uris = () => spawnSync('apt-get', installArgs('/nowhere', '--print-uris'), { encoding: 'utf8' });
  let found = uris();
  if (found.status !== 0) {
    // There are no package lists, or they are old.
    spawnSync('apt-get', [...PATIENCE, 'update'], { stdio: 'ignore' });
    found = uris();
  }
  if (found.status !== 0) throw new Error(found.error?.message ?? found.stderr.trim().split('\n').at(-1));
  // Each line is 'URI' name bytes hash.
  return [...found.stdout.matchAll(/^'\S+' (\S+\.deb) /gm)].map(([, name = '']) => name);
}

async function download(archives: string, count: number): Promise<void> {
  const apt = spawn('apt-get', installArgs(archives, '--download-only'), { stdio: ['ignore', 'pipe', 'pipe'] });
  const complaints: string[] = [];
  readline.createInterface(apt.stderr).on('line', (line) => complaints.push(line));
  let fetched = 0;
  readline.createInterface(apt.stdout).on('line', (line) => {
    if (line.startsWith('Get:') && ++fetched % REPORT_EACH === 0) console.log(`  ${fetched} of ${count} downloaded`);
  });
  const status = await new Promise((resolve, reject) => apt.once('error', reject).once('close', resolve));
  if (status !== 0) throw new Error(complaints.at(-1) ?? 'apt-get failed');
}

/** Packages of this release still have files in /bin and /lib, which are links. */
function makeRoot(): void {
  for (const name of ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']) {
    fs.mkdirSync(path.join(ROOT, 'usr', name), { recursive: true });
    fs.symlinkSync(`usr/${name}`, path.join(ROOT, name));
  }
}

async function unpack(archives: string, names: string[]): Promise<void> {
  const few = pLimit(os.availableParallelism());
  const script = 'dpkg-deb --fsys-tarfile "$0" | tar --extract --keep-directory-symlink --directory "$1"';
  let unpacked = 0;
  await few.map(names, async (name) => {
    await promisify(execFile)('sh', ['-c', script, path.join(archives, name), ROOT]);
    if (++unpacked % REPORT_EACH === 0) console.log(`  ${unpacked} of ${names.length} unpacked`);
  });
}

/** Without its byte code, each Python program would take many seconds to start. */
async function compile(): Promise<void> {
  console.log("  compiling Python's byte code");
  const modules = path.join(ROOT, 'usr/lib/python3');
  const args = ['-W', 'ignore', '-m', 'compileall', '-q', '-j', '0', '-s', ROOT, modules];
  // It ends with 1 if one file of thousands is for another version of Python.
  await promisify(execFile)('/usr/bin/python3', args).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw error;
  });
}
