import fs from 'node:fs';
import path from 'node:path';

export interface ViewOptions {
  /** Files and folders that are needed besides those of the system. */
  needed: readonly string[];
  /** Folders that nothing may see, even where they lie in one that is needed. What is needed of them is seen. */
  hides: readonly string[];
}

/** What is seen of the machine, as arguments of bubblewrap. */
export interface View {
  args: string[];
  /** Empty folders that are memory, and want to be made read-only at the end. */
  hiding: string[];
}

/** Programs and their libraries. Settings, sockets and people's files have no place in these. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'],
  ...['/etc/ld.so.cache', '/etc/alternatives'],
];

/** @throws Error where a folder is needed and to be hidden */
export function viewOf(options: ViewOptions): View {
  const hidden = options.hides.map(realPath).filter((folder) => fs.existsSync(folder));
  const both = options.needed.find((file) => hidden.includes(realPath(file)));
  if (both !== undefined) throw new Error(`${both} is needed, and what else is in it must be hidden`);
  const links = SYSTEM.filter(isLink);
  const named = [
    ...SYSTEM.filter((file) => fs.existsSync(file)),
    ...options.needed.flatMap((file) => [path.resolve(file), realPath(file)]),
  ];
  // Behind a link nothing is put: what it leads to is shown by its own name.
  const names = [...new Set(named)].filter((file) => !links.some((link) => isIn(file, link)));
  const mounts = mountsOf(names, hidden);
  return {
    args: [
      ...links.flatMap((link) => ['--symlink', fs.readlinkSync(link), link]),
      ...mounts.flatMap(({ at, shown }) => [
        ...wayTo(at),
        ...(shown ? ['--ro-bind-try', at, at] : ['--tmpfs', at]),
      ]),
    ],
    hiding: mounts.filter(({ shown }) => !shown).map(({ at }) => at),
  };
}

/** The folders around. Left to itself, bubblewrap makes some that none but root may pass. */
export function wayTo(file: string): string[] {
  const around = path.dirname(file);
  return around === path.dirname(around) ? [] : [...wayTo(around), '--dir', around];
}

interface Mount {
  at: string;
  shown: boolean;
}

/** What is shown and what is hidden again in it, under every name that leads there; the outer before the inner. */
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
