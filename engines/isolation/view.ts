import fs from 'node:fs';
import path from 'node:path';

export interface ViewOptions {
  /** Needed files and folders besides those of the system. */
  needed: readonly string[];
  /** Folders that must stay invisible, even inside a needed one; needed files in them are visible. */
  hides: readonly string[];
}

/** The visible part of the machine, as arguments of bubblewrap. */
export interface View {
  args: string[];
  /** Empty folders in memory, which have to be made read-only at the end. */
  hiding: string[];
}

/** Programs and their libraries. These folders contain no settings, sockets or people's files. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'],
  ...['/etc/ld.so.cache', '/etc/alternatives'],
];

/** @throws Error if a needed folder is also to be hidden */
export function viewOf(options: ViewOptions): View {
  const hidden = options.hides.map(realPath).filter((folder) => fs.existsSync(folder));
  const both = options.needed.find((file) => hidden.includes(realPath(file)));
  if (both !== undefined) throw new Error(`${both} is needed in the sandbox, but the rest of it must stay hidden`);
  const links = SYSTEM.filter(isLink);
  const named = [
    ...SYSTEM.filter((file) => fs.existsSync(file)),
    ...options.needed.flatMap((file) => [path.resolve(file), realPath(file)]),
  ];
  // Nothing is mounted behind a link: its target is shown under its own name.
  const names = [...new Set(named)].filter((file) => !links.some((link) => isIn(file, link)));
  const mounts = mountsOf(names, hidden);
  return {
    args: [
      ...links.flatMap((link) => ['--symlink', fs.readlinkSync(link), link]),
      ...mounts.flatMap(({ at, shown }) => [...wayTo(at), ...(shown ? ['--ro-bind-try', at, at] : ['--tmpfs', at])]),
    ],
    hiding: mounts.filter(({ shown }) => !shown).map(({ at }) => at),
  };
}

/** Returns the folders around a file. Bubblewrap itself would create some that only root may enter. */
export function wayTo(file: string): string[] {
  const around = path.dirname(file);
  return around === path.dirname(around) ? [] : [...wayTo(around), '--dir', around];
}

interface Mount {
  at: string;
  shown: boolean;
}

/**
 * Returns what is shown and what inside it is hidden again, under every name that leads there; outer folders
 * come before inner ones.
 */
function mountsOf(names: readonly string[], hidden: readonly string[]): Mount[] {
  const wanted = [
    ...names.map((at) => ({ at, shown: true })),
    ...names.flatMap((name) => {
      const real = realPath(name);
      const inside = hidden.filter((folder) => isIn(folder, real));
      return inside.map((folder) => ({ at: `${name}${folder.slice(real.length)}`, shown: false }));
    }),
  ].sort((a, b) => depthOf(a.at) - depthOf(b.at));
  const mounts: Mount[] = [];
  for (const mount of wanted) {
    // The last mount around it is the innermost so far. In one of the same kind there is nothing to do.
    const around = mounts.findLast(({ at }) => isIn(mount.at, at));
    if (mount.shown !== (around?.shown ?? false)) mounts.push(mount);
  }
  return mounts;
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
