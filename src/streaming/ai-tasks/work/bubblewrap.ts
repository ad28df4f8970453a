import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ChildCommand, ChildStart } from '../../../../engines/index.ts';
import { giveTo, isRoot, nextUser, type OsUser } from './analysis-user.ts';
import { type View, wayTo } from './view.ts';

export interface Tools {
  bubblewrap: string;
  /** Whether this version of bubblewrap has the option. */
  knows(option: string): boolean;
  /** The program of util-linux with which root becomes another user. */
  setpriv: string;
  view: View;
  /** How much an analysis may write in total. */
  scratchBytes: number;
}

/** Isolates a process that reads a stranger's bytes. */
export interface Sandbox {
  /**
   * Starts the command without network and other processes. It sees programs, the needed files, and the files
   * that are in the folder by now; it can only write to the folder.
   */
  around(command: ChildCommand, folder: string): ChildStart;
  /** Whether the kernel counts the processes in it separately from all others. */
  counts: boolean;
}

const NAMESPACES = [
  ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--die-with-parent', '--hostname', 'sandbox'],
];
/** Further namespaces would give rights over parts of the kernel, and file systems without limits. */
const NO_MORE = '--disable-userns';

/**
 * Returns the possible sandboxes, the best first. Which of them the kernel, its policies and this bubblewrap
 * allow is found out by trying: an old or setuid one supports less.
 */
export function sandboxesOf(tools: Tools): Sandbox[] {
  const make = isRoot() ? asNobody : asOurselves;
  const lesser = make({ ...tools, knows: () => false }, false);
  if (!tools.knows('--size')) return [lesser];
  return [...(tools.knows(NO_MORE) ? [make(tools, true)] : []), make(tools, false), lesser];
}

function asOurselves(tools: Tools, noMore: boolean): Sandbox {
  return {
    around: (command, folder) => ({
      command: [
        tools.bubblewrap,
        ...['--unshare-user', ...(noMore ? [NO_MORE] : []), '--cap-drop', 'ALL'],
        ...insideOf(tools, folder, ['/proc']),
        ...['--', ...command],
      ],
      folder,
      writesToDisk: !tools.knows('--size'),
    }),
    counts: kernelIsAtLeast(5, 14),
  };
}

/**
 * Root sets up the view, since only root may enter every folder, and then becomes a user who is nobody
 * outside either. Root in a namespace of its own would still own the files of /proc, including those that
 * lead out of it.
 */
function asNobody(tools: Tools, noMore: boolean): Sandbox {
  const { bubblewrap, setpriv } = tools;
  const become = ({ uid, gid }: OsUser) => [
    ...[setpriv, '--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--no-new-privs'],
  ];
  // Bubblewrap again, as nobody, for the one namespace that forbids all others. It writes to /proc before
  // anything else runs.
  const within = [
    ...[bubblewrap, '--unshare-user', NO_MORE, '--cap-drop', 'ALL', '--die-with-parent'],
    ...['--dev-bind', '/', '/', '--remount-ro', '/proc', '--'],
  ];
  return {
    around(command, folder) {
      const user = nextUser();
      giveTo(user, folder);
      return {
        command: [
          bubblewrap,
          ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'],
          ...insideOf(tools, folder, noMore ? [] : ['/proc']),
          ...['--', ...become(user), ...(noMore ? within : []), ...command],
        ],
        folder,
        writesToDisk: !tools.knows('--size'),
      };
    },
    counts: true,
  };
}

/** Returns the arguments for what exists in the sandbox and what of it is writable. */
function insideOf(
  { view, knows, scratchBytes }: Tools,
  folder: string,
  readOnly: readonly string[],
): string[] {
  const inputs = fs.readdirSync(folder).map((name) => path.join(folder, name));
  return [
    ...NAMESPACES,
    ...['--proc', '/proc', '--dev', '/dev', ...view.args, ...wayTo(folder)],
    ...(knows('--size')
      ? [
          ...['--perms', '0777', '--size', String(scratchBytes), '--tmpfs', folder],
          ...inputs.flatMap((file) => ['--ro-bind', file, file]),
        ]
      : ['--bind', folder, folder]),
    // Anything left writable would be memory without a limit, or settings of the kernel.
    ...[...view.hiding, '/dev', '/', ...readOnly].flatMap((at) => ['--remount-ro', at]),
    ...['--chdir', folder],
  ];
}

function kernelIsAtLeast(major: number, minor: number): boolean {
  const [has = 0, hasMinor = 0] = os.release().split('.').map(Number.parseFloat);
  return has > major || (has === major && hasMinor >= minor);
}
