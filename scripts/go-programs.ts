// Builds programs from their Go modules, for scripts of the tests.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export interface Build {
  module: string;
  version: string;
  packages: Record<string, string>;
  /** Variables of the program, and their values. */
  stamps: Record<string, string>;
  /**
   * A program's only file in the module, which is built as changed here: Go takes no overlay for the files of modules,
   * but a module whose name is inside another's may use the same parts.
   */
  main?: { file: string; edit(source: string): string };
}

interface GoMod {
  Go: string;
  Require: { Path: string; Version: string }[];
  Replace: { Old: { Path: string }; New: { Path: string } }[] | null;
}

/** Builds the programs of a module into `target`. Throws with the last words of Go. */
export function build({ module, version, packages, stamps, main }: Build, target: string): void {
  const work = fs.mkdtempSync(path.join(path.dirname(target), '.building-'));
  try {
    const { GoMod, Dir } = downloaded(module, version, work);
    const theirs: GoMod = JSON.parse(go(work, 'mod', 'edit', '-json', GoMod));
    const own = main ? path.join(module, path.dirname(main.file), 'program') : 'tradewind.example/programs';
    fs.writeFileSync(path.join(work, 'go.mod'), mainModule(own, { module, version }, theirs));
    if (main) {
      const source = fs.readFileSync(path.join(Dir, main.file), 'utf8');
      const changed = main.edit(source);
      if (changed === source) throw new Error(`${main.file} of ${module} is not what it was`);
      fs.writeFileSync(path.join(work, 'main.go'), changed);
    }
    const ldflags = ['-s', '-w', ...Object.entries(stamps).map(([name, value]) => `-X ${name}=${value}`)];
    for (const [name, from] of Object.entries(packages)) {
      const output = path.join(target, name);
      console.log(`Building ${name} ${version} ...`);
      const how = ['-mod=mod', '-trimpath', '-p=1', '-ldflags', ldflags.join(' ')];
      go(work, 'build', ...how, '-o', output, from);
    }
  } finally {
    fs.rmSync(work, { recursive: true });
  }
}

/** Returns where the parts of a module are; `Dir` has its files. */
export function downloaded(module: string, version: string, cwd: string): { GoMod: string; Dir: string } {
  return JSON.parse(go(cwd, 'mod', 'download', '-json', `${module}@${version}`));
}

/**
 * Kubernetes has parts of its own tree in place of modules (`replace k8s.io/api => ./staging/...`), which only counts in
 * a main module. They are published as well: v0.33.13 belongs to v1.33.13.
 */
function mainModule(
  own: string,
  { module, version }: Pick<Build, 'module' | 'version'>,
  { Go, Require, Replace }: GoMod,
): string {
  const required = new Set(Require.map(({ Path }) => Path));
  const staged = (Replace ?? []).filter(({ Old, New }) => New.Path.startsWith('./staging/') && required.has(Old.Path));
  const published = version.replace(/^v1\./, 'v0.');
  return [
    `module ${own}`,
    `go ${Go}`,
    `require ${module} ${version}`,
    ...staged.map(({ Old }) => `replace ${Old.Path} => ${Old.Path} ${published}`),
    '',
  ].join('\n');
}

function go(cwd: string, ...args: string[]): string {
  // The lowest priority: this runs beside other work for a long time.
  const { status, stdout, stderr, error } = spawnSync('nice', ['-n', '19', 'go', ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
  });
  if (status === 0) return stdout;
  const last = (stderr || stdout).trim().split('\n').slice(-3).join(' ');
  throw new Error(`go ${args.slice(0, 2).join(' ')}: ${error?.message ?? last}`);
}

export const works = (program: string): boolean =>
  ['--version', 'version'].some(
    (word) => spawnSync(program, [word, '--client']).status === 0 || spawnSync(program, [word]).status === 0,
  );
