import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { attempt } from '../src/lib/errors.ts';

/** How the server's programs are started: PostgreSQL refuses to run as root, and its user needs a name. */
export interface Runner {
  /** Program and arguments that precede the command. */
  prefix: string[];
  /** The identity for `child_process`, if the prefix doesn't change it. */
  identity: { uid: number; gid: number } | undefined;
  /** Owner of the database files, as seen from this process. */
  owner: { uid: number; gid: number };
  /** Owner of the socket's folder, as seen from this process. */
  socketOwner: { uid: number; gid: number };
}

// "nobody" is in every /etc/passwd, which is all that initdb needs.
const NOBODY = { uid: 65534, gid: 65534 };

// SIGINT is PostgreSQL's fast shutdown: the server stops when this process dies, even by kill -9.
const DIE_WITH_PARENT = ['setpriv', '--pdeathsig', 'INT'];

/**
 * Runs as nobody, with the one extra right to enter closed folders (a checkout under /root or in a user's closed home).
 * access(2), which initdb calls, ignores that right for ordinary users unless no_setuid_fixup is set.
 */
const AS_NOBODY_IN_CLOSED_FOLDERS = [
  ...['setpriv', '--reuid', String(NOBODY.uid), '--regid', String(NOBODY.gid), '--clear-groups'],
  ...['--inh-caps', '-all,+dac_override', '--ambient-caps', '+dac_override'],
  ...['--bounding-set', '-all,+dac_override', '--securebits', '+no_setuid_fixup'],
  ...['--nnp', '--pdeathsig', 'INT'],
];

/** Still our own user outside, but "nobody" inside the namespace. Containers often forbid it. */
const AS_NOBODY_IN_NAMESPACE = [
  ...['unshare', '-U', `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`],
  ...DIE_WITH_PARENT,
];

/** Returns the ways to try, best first. */
export function runners(): Runner[] {
  const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const own = (prefix: string[]): Runner => ({ prefix, identity: undefined, owner: self, socketOwner: self });
  if (self.uid === 0) {
    const asNobody = (prefix: string[]): Runner => ({
      prefix,
      identity: NOBODY,
      owner: NOBODY,
      socketOwner: NOBODY,
    });
    return [
      { prefix: AS_NOBODY_IN_CLOSED_FOLDERS, identity: undefined, owner: NOBODY, socketOwner: self },
      own(AS_NOBODY_IN_NAMESPACE),
      asNobody(DIE_WITH_PARENT),
      asNobody([]),
    ];
  }
  const ways = [own(DIE_WITH_PARENT), own([])];
  const hasName = attempt(() => os.userInfo()) !== undefined;
  return hasName ? ways : [own(AS_NOBODY_IN_NAMESPACE), ...ways];
}

/**
 * Checks whether the runner can work in the folder and execute the server there. Returns the server's
 * version, or why not.
 */
export function probe(runner: Runner, postgres: string, dataDir: string): { major: number } | { problem: string } {
  if (runner.identity) letThrough(dataDir);
  const script = 'cd -- "$1" && exec "$2" --version';
  const [command = 'sh', ...args] = [...runner.prefix, 'sh', '-c', script, 'sh', dataDir, postgres];
  const result = spawnSync(command, args, { ...runner.identity, cwd: '/', encoding: 'utf8' });
  const version = /PostgreSQL\) (\d+)/.exec(result.stdout ?? '')?.[1];
  if (result.status === 0 && version) return { major: Number(version) };
  return { problem: (result.error?.message ?? result.stderr).trim() };
}

/** Without special rights, the other user has to pass through our folder; its contents stay closed to them. */
function letThrough(dataDir: string): void {
  const { mode } = fs.statSync(dataDir);
  if ((mode & 0o011) === 0) fs.chmodSync(dataDir, (mode & 0o7777) | 0o011);
}
