import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../lib/errors.ts';

const CHECK_MS = 250;
const SHELLS = /^((ba|da|a|z|k|mk|fi|c|tc)?sh|busybox)\d*$/;

/**
 * Calls `gone` when the process that started this one has ended, or an ancestor that only waited for it: a
 * signal to npm, npx or a script ends only that program, and would leave the server running with its port and
 * data folder. If npm has ended before this one could look, `gone` is called at once. A daemon has no launcher:
 * a process that leads its group (setsid, a service manager, a job of a terminal), a child of init, and one
 * that its shell doesn't wait for (`&`).
 */
export function whenLauncherIsGone(
  gone: () => void,
  { runByNpm, waits = false }: { runByNpm: boolean; waits?: boolean },
): void {
  if (waits && isOrphan()) {
    gone();
    return;
  }
  const holds = process.platform === 'linux' ? climb(runByNpm) : directParent(runByNpm);
  const timer = setInterval(() => {
    if (holds()) return;
    clearInterval(timer);
    gone();
  }, CHECK_MS).unref();
}

/** Whether npm's script is this program, and not something that leaves it behind. */
export function npmWaitsFor(script = ''): boolean {
  const startsIt = /(^|[\s'"/;&|(])(tradewind(\.mjs)?|dist\/src\/main\.js)(['"\s]|$)/.test(script);
  return startsIt && !/[^&]&\s*($|[^&\s])|\b(nohup|setsid)\b/.test(script);
}

/** Whether what npm started has fallen to init, or to the service manager of its user. */
function isOrphan(): boolean {
  let pid = process.ppid;
  if (process.platform !== 'linux') return pid <= 1;
  while (pid > 1 && isShell(pid)) pid = relativesOf(pid)?.parent ?? 0;
  const name = nameOf(pid);
  // In a container, npm itself may be the first process.
  return pid <= 1 ? !/^(npm|npx|node|pnpm|yarn|bun)\b/.test(name) : name === 'systemd';
}

/** For systems without information about other processes: only npm is known to wait for what it starts. */
function directParent(runByNpm: boolean): () => boolean {
  const parent = process.ppid;
  return () => !runByNpm || process.ppid === parent;
}

/**
 * Follows the ancestors as long as each only waits for the one below, and looks again if that can't be determined yet.
 */
function climb(runByNpm: boolean): () => boolean {
  const links: { pid: number; parent: number }[] = [];
  let atTop = false;

  function goUp(): void {
    for (;;) {
      const pid = links.at(-1)?.parent ?? process.pid;
      const { parent, group } = relativesOf(pid) ?? {};
      const standsAlone = links.length > 0 && !isShell(pid) && !isNpm(pid);
      atTop = parent === undefined || parent <= 1 || group === pid || standsAlone;
      if (atTop || parent === undefined || (isShell(parent) && !onlyWaitsFor(parent, pid, runByNpm))) return;
      links.push({ pid, parent });
    }
  }

  goUp();
  return () => {
    if (links.some(({ pid, parent }) => relativesOf(pid)?.parent !== parent)) return false;
    if (!atTop) goUp();
    return true;
  };
}

function isShell(pid: number): boolean {
  // A program that can't be determined is treated like a shell.
  const program = attempt(() => fs.readlinkSync(`/proc/${pid}/exe`));
  return program === undefined || SHELLS.test(path.basename(program));
}

/** npm shows its command instead of its name. */
function isNpm(pid: number): boolean {
  return nameOf(pid).startsWith('npm ');
}

function nameOf(pid: number): string {
  return textOf(`/proc/${pid}/comm`)?.trim() ?? '';
}

/** A shell that continues by itself, or reads its next command, may exit at any time. */
function onlyWaitsFor(shell: number, child: number, runByNpm: boolean): boolean {
  const hasNoOther = () => textOf(`/proc/${shell}/task/${shell}/children`)?.trim() === String(child);
  if (!hasNoOther()) return false;
  const place = textOf(`/proc/${shell}/wchan`)?.trim() || '0';
  // It may have started something else meanwhile. If the kernel doesn't tell, only npm's shells are known to wait.
  return (place === '0' ? runByNpm : place === 'do_wait') && hasNoOther();
}

function relativesOf(pid: number): { parent: number; group: number } | undefined {
  // The name comes first, in brackets, and may contain anything.
  const fields = textOf(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ');
  return fields && { parent: Number(fields[1]), group: Number(fields[2]) };
}

function textOf(file: string): string | undefined {
  return attempt(() => fs.readFileSync(file, 'utf8'));
}
