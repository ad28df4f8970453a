import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ChildCommand } from '../../../engines/analysis-program.ts';
import { findProgram } from '../../../engines/programs.ts';

const run = promisify(execFile);

/** A machine of its own for what reads a stranger's bytes. */
export interface Sandbox {
  /** The command without network and other processes. It sees programs and `reads`, and writes to the folder alone. */
  around(command: ChildCommand, folder: string): ChildCommand;
}

export type SandboxFinding = { found: Sandbox; missing?: never } | { found?: never; missing: string };

interface SandboxOptions {
  searchPath: string;
  /** Programs that are started in it, wherever they are. */
  programs: readonly string[];
  /** Files and folders that are needed besides. */
  reads: readonly string[];
  /** Folders that nothing may see, even where they lie in one that is needed. What is needed of them is seen. */
  hides: readonly string[];
}

/** Programs and their libraries. Settings, sockets and people's files have no place in these. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'],
  ...['/etc/ld.so.cache', '/etc/alternatives'],
];
/** What isn't seen or doesn't run is found out before a task needs it: 127 is a program that lacks a library, or its interpreter's word. */
const LOOK = `const [programs, reads] = JSON.parse(process.argv[1]);
const refuse = (file, why) => { console.error(file + ' ' + why); process.exit(1); };
for (const file of reads) try { require('fs').accessSync(file); } catch { refuse(file, "can't be seen in it"); }
for (const program of programs) {
  const { error, status } = require('child_process').spawnSync(program, ['-version'], { stdio: 'ignore' });
  if (error || status === 126 || status === 127) refuse(program, "doesn't run in it");
}`;
const LOOK_MS = 10_000;

/** Bubblewrap, if it works here: containers and some kernels don't let programs make namespaces. */
export async function findSandbox(
  options: SandboxOptions & { /** Where it is tried. */ folder: string },
): Promise<SandboxFinding> {
  if (process.platform !== 'linux') return { missing: 'there is one for Linux only' };
  const bubblewrap = findProgram('bwrap', options.searchPath);
  if (bubblewrap === undefined)
    return { missing: `bubblewrap isn't installed; run "npm run install:engines"` };
  let folder: string | undefined;
  try {
    folder = fs.mkdtempSync(path.join(options.folder, 'tradewind-sandbox-'));
    const sandbox = bubblewrapSandbox(bubblewrap, options);
    const { programs, reads } = options;
    const look = [process.execPath, '-e', LOOK, JSON.stringify([programs, reads])] as const;
    const [program, ...args] = sandbox.around(look, folder);
    await run(program, args, { cwd: folder, timeout: LOOK_MS, env: {} });
    return { found: sandbox };
  } catch (error) {
    return { missing: `bubblewrap doesn't work here: ${complaintOf(error)} (docs/ai-tasks.md)` };
  } finally {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
  }
}

function complaintOf(error: unknown): string {
  const { stderr = '', killed, message } = error as Error & { stderr?: string; killed?: boolean };
  if (killed) return `it did not end within ${LOOK_MS / 1_000} seconds`;
  return stderr.trim() || message;
}

/** @throws Error where a folder is needed and to be hidden */
function bubblewrapSandbox(bubblewrap: string, options: SandboxOptions): Sandbox {
  const hidden = options.hides.map(realPath).filter((folder) => fs.existsSync(folder));
  const needed = [process.execPath, ...options.programs, ...options.reads];
  const both = needed.find((file) => hidden.includes(realPath(file)));
  if (both !== undefined) throw new Error(`${both} is needed, and what else is in it must be hidden`);
  const links = SYSTEM.filter(isLink);
  const named = [...SYSTEM, ...needed.flatMap((file) => [path.resolve(file), realPath(file)])];
  // Behind a link nothing is put: what it leads to is shown by its own name.
  const names = [...new Set(named)].filter((file) => !links.some((link) => isIn(file, link)));
  const places = placesOf(names, hidden);
  const hiding = places.filter(({ shown }) => !shown).map(({ at }) => at);
  const view = [
    ...links.flatMap((link) => ['--symlink', fs.readlinkSync(link), link]),
    ...places.flatMap(({ at, shown }) => (shown ? ['--ro-bind-try', at, at] : ['--tmpfs', at])),
  ];
  return {
    around: (command, folder) => [
      bubblewrap,
      ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
      ...['--cap-drop', 'ALL', '--die-with-parent', '--hostname', 'sandbox'],
      ...['--proc', '/proc', '--dev', '/dev', ...view, '--bind', folder, folder],
      // What is left to write to would be memory that no limit counts.
      ...[...hiding, '/dev', '/'].flatMap((at) => ['--remount-ro', at]),
      ...['--chdir', folder, '--', ...command],
    ],
  };
}

interface Place {
  at: string;
  shown: boolean;
}

/** What is shown and what is hidden again in it, under every name that leads there; the outer before the inner. */
function placesOf(names: readonly string[], hidden: readonly string[]): Place[] {
  const wanted = [
    ...names.map((at) => ({ at, shown: true })),
    ...names.flatMap((name) => {
      const real = realPath(name);
      const inside = hidden.filter((folder) => isIn(folder, real));
      return inside.map((folder) => ({ at: `${name}${folder.slice(real.length)}`, shown: false }));
    }),
  ].sort((a, b) => depthOf(a.at) - depthOf(b.at));
  const places: Place[] = [];
  for (const place of wanted) {
    // The last place around it is the innermost so far. In one of the same kind there is nothing to do.
    const around = places.findLast(({ at }) => isIn(place.at, at));
    if (place.shown !== (around?.shown ?? false)) places.push(place);
  }
  return places;
}

const depthOf = (file: string) => file.split(path.sep).length;

function isIn(file: string, folder: string): boolean {
  return file === folder || file.startsWith(`${folder}${path.sep}`);
}

function isLink(file: string): boolean {
  return fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}
