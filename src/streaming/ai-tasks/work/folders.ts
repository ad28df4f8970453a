import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';

/** Where tasks keep their files during work: `<root>/<worker>/<task>`. */
export interface WorkFolders {
  /** Makes a new, empty folder; an existing one is deleted. */
  make(taskId: string): Promise<string>;
  remove(taskId: string): Promise<void>;
  /**
   * Removes the folders of processes that have ended, and kills children that still work in them. Returns the
   * workers that are thereby known to be dead.
   */
  sweep(livingWorkers: () => Promise<ReadonlySet<string>>): Promise<string[]>;
  /** Removes this worker's own folder. */
  close(): Promise<void>;
}

interface OwnerProcess {
  host: string;
  /** Processes of another namespace, such as another container, are invisible. */
  pidNamespace: string;
  pid: number;
  /** Distinguishes a process from a later one with the same id. */
  startedAt: string;
}

const OWNER_FILE = 'owner.json';
/** Nothing else in the folder is ours to remove. */
const WORKER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** A folder without an owner file may be about to get one. */
const OWNERLESS_MS = 60_000;

export async function openWorkFolders(root: string, workerId: string, log: Logger): Promise<WorkFolders> {
  const pidNamespace = await ownPidNamespace();
  const left = new Set<string>();
  const own = path.join(root, workerId);
  await fs.mkdir(own, { recursive: true, mode: 0o700 });
  const owner: OwnerProcess = {
    host: os.hostname(),
    pidNamespace,
    pid: process.pid,
    startedAt: (await startOf(process.pid)) ?? '',
  };
  await fs.writeFile(path.join(own, OWNER_FILE), JSON.stringify(owner));
  return {
    async make(taskId) {
      const folder = path.join(own, taskId);
      await remove(folder);
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    remove: (taskId) => remove(path.join(own, taskId)),
    async sweep(livingWorkers) {
      const names = (await namesIn(root)).filter(
        (name) => WORKER_ID.test(name) && name !== workerId && !left.has(name),
      );
      const dead: string[] = [];
      if (names.length === 0) return dead;
      // Asked after listing: a worker is known before it has a folder.
      const living = await livingWorkers();
      for (const name of names) {
        const folder = path.join(root, name);
        if (await isInUse(folder, living.has(name), pidNamespace)) continue;
        dead.push(name);
        await endProcessesIn(folder);
        await remove(folder).catch((error: unknown) => {
          left.add(name);
          log.warn({ err: error, folder }, 'a folder left behind by a dead process could not be removed');
        });
      }
      return dead;
    },
    close: () => remove(own),
  };
}

const remove = (folder: string) => fs.rm(folder, { recursive: true, force: true, maxRetries: 3 });

/**
 * A process of this machine is visible. For other machines the heartbeat decides, and also within
 * this process, where a worker may have ended alone.
 */
async function isInUse(folder: string, beats: boolean, pidNamespace: string): Promise<boolean> {
  const owner = await ownerOf(folder);
  if (owner?.host === os.hostname() && owner.pidNamespace === pidNamespace) {
    const start = await startOf(owner.pid);
    const lives = start !== undefined && start === owner.startedAt;
    return lives && (owner.pid !== process.pid || beats);
  }
  if (beats || owner) return beats;
  const { mtimeMs } = await fs.stat(folder);
  return Date.now() - mtimeMs < OWNERLESS_MS;
}

/** Empty if the system has no namespaces. */
const ownPidNamespace = (): Promise<string> => fs.readlink('/proc/self/ns/pid').catch(() => '');

async function ownerOf(folder: string): Promise<OwnerProcess | undefined> {
  try {
    return JSON.parse(await fs.readFile(path.join(folder, OWNER_FILE), 'utf8')) as OwnerProcess;
  } catch {
    return undefined;
  }
}

/** Returns when a process began, in some form; undefined if it doesn't exist. Without /proc, all have the same text. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined;
  }
  const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Fields are counted after the name, which may contain anything: the state is the first, the start time the
  // twentieth.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await fs.readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Children normally exit with their server; this is for one that was too busy to notice. They are recognised
 * by their working directory on Linux; on other systems they can't be found.
 */
async function endProcessesIn(folder: string): Promise<void> {
  for (const name of await namesIn('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const cwd = await fs.readlink(`/proc/${name}/cwd`).catch(() => '');
    if (!cwd.startsWith(`${folder}${path.sep}`)) continue;
    try {
      process.kill(Number(name), 'SIGKILL');
    } catch {
      // The process has exited already.
    }
  }
}
