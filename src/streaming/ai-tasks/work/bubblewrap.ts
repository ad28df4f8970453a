import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ChildCommand, ChildStart } from '../../../engines/analysis-program.ts';
import { giveTo, isRoot, nextUser, type OsUser } from './analysis-user.ts';
import { type View, wayTo } from './view.ts';

export interface Tools {
  bubblewrap: string;
  /** Whether this version of it knows the option. */
  knows(option: string): boolean;
  /** Of util-linux; what makes root another user. */
  setpriv: string;
  view: View;
  /** What an analysis may write in all. */
  scratchBytes: number;
}

/** A machine of its own for what reads a stranger's bytes. */
export interface Sandbox {
  /**
   * Starts the command without network and other processes. It sees programs, what is needed, and the files that are
   * in the folder by now; it writes to the folder alone.
   */
  around(command: ChildCommand, folder: string): ChildStart;
  /** Whether the kernel counts the processes in it apart from all others. */
  counts: boolean;
}

const NAMESPACES = [
  ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--die-with-parent', '--hostname', 'sandbox'],
];
/** Further namespaces would bring rights over parts of the kernel, and file systems that no limit counts. */
const NO_MORE = '--disable-userns';

/**
 * The ways to make one, the best first. Which of them the kernel, its policies and this bubblewrap allow is found out by
 * trying: an old one, or one that is setuid, knows less.
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
 * Root sees to what is seen, since only root may enter every folder, and then becomes a user that is nobody outside
 * either. Root of a namespace of its own would own the files of /proc still, those that lead out of it among them.
 */
function asNobody(tools: Tools, noMore: boolean): Sandbox {
  const { bubblewrap, setpriv } = tools;
  const become = ({ uid, gid }: OsUser) => [
    ...[setpriv, '--reuid', String(uid), '--regid', String(gid), '--clear-groups', '--no-new-privs'],
  ];
  // As nobody once more, for the one namespace that forbids all others. It writes to /proc before anything else runs.
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

/** What is there, and what of it can be written. */
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
    // What is left to write to would be memory that no limit counts, or settings of the kernel.
    ...[...view.hiding, '/dev', '/', ...readOnly].flatMap((at) => ['--remount-ro', at]),
    ...['--chdir', folder],
  ];
}

function kernelIsAtLeast(major: number, minor: number): boolean {
  const [has = 0, hasMinor = 0] = os.release().split('.').map(Number.parseFloat);
  return has > major || (has === major && hasMinor >= minor);
}
