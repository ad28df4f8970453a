// A machine of its own for the rig's processes: the packages are in /usr there, and nobody else sees that. All processes
// end with its first one.
import { execFile, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { attempt } from '../../src/lib/errors.ts';
import { ROOT } from './packages.ts';

/** Debian's own programs come first: another Python wouldn't find the packages. */
const ENVIRONMENT = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
  PYTHONWARNINGS: 'ignore',
  no_proxy: '127.0.0.1',
};
const OWN_PROCESSES = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc'];
const POLL_MS = 20;
const READY_MS = 20_000;
/** Longer than the slowest schema takes on a busy machine. */
const COMMAND_MS = 600_000;

export interface Program {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export interface Machine {
  /** Runs a program to its end. Throws with the end of what it printed. */
  run(program: Program): Promise<string>;
  /** Starts a program in a session of its own and returns its process. What it prints goes to the file. */
  start(program: Program, log: string): Promise<number>;
  /** Whether a process runs in it. */
  has(pid: number): boolean;
  /** Kills every process. */
  end(): Promise<void>;
}

interface Wanted {
  folder: string;
  /** Held by the machine as long as it runs. */
  lock: number;
  /** Whether it outlives this process. */
  outlives: boolean;
  /** Scripts for a network of its own, and how to enter that. Without them it has the network of this process. */
  network?: { outside: string; inside: string } | undefined;
}

// The first process. Its upper layers are in the rig's folder: `usr` has our own programs, `etc` takes what is written.
const FIRST = `set -e
mount -t overlay overlay -o "lowerdir=$1/system/usr:$2/usr:/usr" /usr
mount -t overlay overlay -o "lowerdir=$2/etc:/etc,upperdir=$1/system/etc,workdir=$1/system/work" /etc
ldconfig
`;
// The shell waits for its child, and so for every process that loses its parent.
const STAY = `
touch "$1/run/ready"
sleep infinity &
wait`;

/** Returns why such a machine can't be had here; undefined if it can. The trial is a script for its network. */
export function whyNoMachine(trial?: string): string | undefined {
  const layers = 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/one && mount -t overlay overlay -o "lowerdir=$0:/usr" /usr';
  const [lower, words] = trial === undefined ? ['/mnt/one', []] : [`${ROOT}/usr`, ['--net']];
  const args = [...OWN_PROCESSES, ...words, 'sh', '-ec', `${layers}\n${trial ?? ''}`, lower];
  const { status, error, stderr } = spawnSync('unshare', args, { encoding: 'utf8', env: ENVIRONMENT });
  return status === 0 ? undefined : `it needs namespaces and overlayfs: ${error?.message ?? stderr.trim()}`;
}

/** Starts the machine of a folder. */
export async function startMachine({ folder, lock, outlives, network }: Wanted): Promise<Machine> {
  const log = fs.openSync(path.join(folder, 'log/machine.out'), 'a');
  const first = `${FIRST}${network?.outside ?? ''}\nexec $enter sh -ec "$3" first "$1"`;
  const then = `${network?.inside ?? ''}${STAY}`;
  const [command = '', ...args] = [
    ...(outlives ? [] : ['setpriv', '--pdeathsig', 'KILL']),
    ...['unshare', ...OWN_PROCESSES, 'sh', '-c', first, 'first', folder, ROOT, then],
  ];
  const child = spawn(command, args, {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: ['ignore', log, log, lock],
    detached: true,
  });
  fs.closeSync(log);
  child.unref();
  if (child.pid === undefined) throw new Error(`${command} is missing`);
  const deadline = Date.now() + READY_MS;
  while (!fs.existsSync(path.join(folder, 'run/ready'))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`The namespaces of ${folder} did not start: ${endOf(path.join(folder, 'log/machine.out'))}`);
    }
    await sleep(POLL_MS);
  }
  const pid = await childOf(child.pid);
  fs.writeFileSync(path.join(folder, 'run/machine.pid'), String(pid));
  return machineOf(pid);
}

/** Returns the machine that runs for a folder, if one does. */
export function findMachine(folder: string): Machine | undefined {
  const pid = Number(attempt(() => fs.readFileSync(path.join(folder, 'run/machine.pid'), 'utf8')));
  // After a restart of the computer, the number may be another process's.
  const commandLine = attempt(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';
  return pid > 0 && commandLine.split('\0').includes(folder) ? machineOf(pid) : undefined;
}

function machineOf(first: number): Machine {
  const inside = ['--target', String(first), '--mount', '--pid', '--net'];
  return {
    async run({ command, args, env }) {
      const options = { env: { ...ENVIRONMENT, ...env }, timeout: COMMAND_MS, maxBuffer: 2 ** 26 };
      const running = promisify(execFile)('nsenter', [...inside, command, ...args], options);
      return (
        await running.catch((error: Error & { stderr?: string }) => {
          throw new Error(`${command} ${args.join(' ')}: ${(error.stderr ?? error.message).trim().slice(-2000)}`);
        })
      ).stdout;
    },
    async start({ command, args, env }, log) {
      const output = fs.openSync(log, 'a');
      const child = spawn('nsenter', [...inside, 'setsid', command, ...args], {
        cwd: '/',
        env: { ...ENVIRONMENT, ...env },
        stdio: ['ignore', output, output],
        detached: true,
      });
      fs.closeSync(output);
      child.unref();
      if (child.pid === undefined) throw new Error('nsenter is missing');
      return childOf(child.pid);
    },
    has: (pid) => isAlive(pid) && namespaceOf(pid) === namespaceOf(first),
    async end() {
      if (isAlive(first)) process.kill(first, 'SIGKILL');
      while (isAlive(first)) await sleep(POLL_MS);
    },
  };
}

const namespaceOf = (pid: number) => attempt(() => fs.readlinkSync(`/proc/${pid}/ns/pid`));

/** Waits for the one child of a process: unshare and nsenter fork, and wait for who runs in the namespace. */
async function childOf(parent: number): Promise<number> {
  const deadline = Date.now() + READY_MS;
  while (isAlive(parent) && Date.now() < deadline) {
    const child = fs.readdirSync('/proc').find((name) => /^\d+$/.test(name) && parentOf(name) === parent);
    if (child !== undefined) return Number(child);
    await sleep(POLL_MS);
  }
  throw new Error('A program did not start, its log says why');
}

/** Returns the process that started another one. */
export function parentOf(pid: number | string): number | undefined {
  const stat = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The name of the program, in brackets, may contain spaces. The state and the parent follow.
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Whether a process runs. One that has ended and is not waited for doesn't. */
export function isAlive(pid: number): boolean {
  const stat = attempt(() => fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat !== undefined && !/\) [ZX] /.test(stat);
}

/** Returns the last lines of a log, for an error. */
export function endOf(file: string): string {
  return (attempt(() => fs.readFileSync(file, 'utf8')) ?? '').trim().split('\n').slice(-15).join('\n');
}
