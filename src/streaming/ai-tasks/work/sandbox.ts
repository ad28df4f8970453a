import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../../../engines/index.ts';
import { isRoot } from './analysis-user.ts';
import { type Sandbox, sandboxesOf } from './bubblewrap.ts';
import { type Needs, problemWith } from './look.ts';
import { viewOf } from './view.ts';

const run = promisify(execFile);

export type SandboxFinding = { found: Sandbox; missing?: never } | { found?: never; missing: string };

interface SandboxOptions extends Needs {
  searchPath: string;
  /** Folders that must stay invisible, even inside a needed one; needed files in them are visible. */
  hides: readonly string[];
  /** How much an analysis may write in total. */
  scratchBytes: number;
  /** The folder in which the sandbox is tried. */
  folder: string;
}

/** Finds bubblewrap, if it works here: containers and some kernels forbid namespaces. */
export async function findSandbox(options: SandboxOptions): Promise<SandboxFinding> {
  if (process.platform !== 'linux') return { missing: 'a sandbox is available only on Linux' };
  const { searchPath, scratchBytes, hides, programs, reads } = options;
  const bubblewrap = findProgram('bwrap', searchPath);
  if (bubblewrap === undefined)
    return { missing: `bubblewrap isn't installed; run "npx tradewind engines install"` };
  const setpriv = findProgram('setpriv', searchPath);
  if (isRoot() && setpriv === undefined)
    return { missing: `setpriv isn't installed, and analyses don't run as root; install util-linux` };
  let problem: string | undefined;
  try {
    const own = [process.execPath, ...programs, ...(isRoot() ? [bubblewrap, setpriv ?? ''] : [])];
    const view = viewOf({ needed: [...own, ...reads], hides });
    const knows = await optionsOf(bubblewrap);
    for (const found of sandboxesOf({ bubblewrap, knows, setpriv: setpriv ?? '', view, scratchBytes })) {
      problem = await problemWith(found.around, options, options.folder);
      if (problem === undefined) return { found };
    }
  } catch (error) {
    problem = (error as Error).message;
  }
  return { missing: `bubblewrap doesn't work here: ${problem} (docs/ai.md)` };
}

/** Options differ between versions; a version that can't list them is tried all the same. */
async function optionsOf(bubblewrap: string): Promise<(option: string) => boolean> {
  const help = await run(bubblewrap, ['--help'], { timeout: 10_000, env: {} }).catch(() => ({ stdout: '' }));
  const known = new Set(help.stdout.match(/--[a-z-]+/g));
  return (option) => known.has(option);
}
