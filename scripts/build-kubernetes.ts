// Builds the programs of Kubernetes that the tests run, from their Go modules, outside the checkout and without root:
// npx tsx scripts/build-kubernetes.ts [--if-possible] [--check]. It takes half an hour on two cores the first time;
// later runs only check what is there. Without Go, the tests that need these programs are skipped, and each says so.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { missingPrograms, wholeFolder, writeSums } from '../src/backends/hosted/programs/folders.ts';
import { CACHE } from './cache.ts';

/** One folder for each version, as TRADEWIND_KUBERNETES_DIR names it. */
export const KUBERNETES_DIR = path.join(CACHE, 'kubernetes');
/** Of two minors, in versions whose modules are all in the proxy; `golang.org/x` and others follow from them. */
export const BUILT_VERSIONS = ['v1.33.13', 'v1.34.4'] as const;
const KUBERNETES_PROGRAMS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'];
const ETCD = 'v3.6.8';
const KWOK = 'v0.7.0';

interface Build {
  module: string;
  version: string;
  packages: Record<string, string>;
  /** Variables of the program, and their values. */
  stamps: Record<string, string>;
}

function kubernetes(version: string): Build {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  const stamp = 'k8s.io/component-base/version.';
  return {
    module: 'k8s.io/kubernetes',
    version,
    packages: Object.fromEntries(
      KUBERNETES_PROGRAMS.map((name) => [name, `k8s.io/kubernetes/cmd/${name}`] as const),
    ),
    stamps: {
      [`${stamp}gitVersion`]: version,
      [`${stamp}gitMajor`]: major,
      [`${stamp}gitMinor`]: minor,
      [`${stamp}gitTreeState`]: 'clean',
    },
  };
}

const SHARED: Build[] = [
  {
    module: 'go.etcd.io/etcd/server/v3',
    version: ETCD,
    packages: { etcd: 'go.etcd.io/etcd/server/v3' },
    stamps: {},
  },
  {
    module: 'sigs.k8s.io/kwok',
    version: KWOK,
    packages: { kwok: 'sigs.k8s.io/kwok/cmd/kwok' },
    stamps: { 'sigs.k8s.io/kwok/pkg/consts.Version': KWOK },
  },
];

interface GoMod {
  Go: string;
  Require: { Path: string; Version: string }[];
  Replace: { Old: { Path: string }; New: { Path: string } }[] | null;
}

/** Builds the programs of a module into `target`. Throws with the last words of Go. */
function build({ module, version, packages, stamps }: Build, target: string): void {
  const work = fs.mkdtempSync(path.join(KUBERNETES_DIR, '.building-'));
  try {
    const { GoMod } = JSON.parse(go(work, 'mod', 'download', '-json', `${module}@${version}`));
    const theirs: GoMod = JSON.parse(go(work, 'mod', 'edit', '-json', GoMod));
    fs.writeFileSync(path.join(work, 'go.mod'), mainModule(module, version, theirs));
    const ldflags = ['-s', '-w', ...Object.entries(stamps).map(([name, value]) => `-X ${name}=${value}`)];
    for (const [name, from] of Object.entries(packages)) {
      const output = path.join(target, name);
      console.log(`Building ${name} ${version} ...`);
      go(work, 'build', '-mod=mod', '-trimpath', '-p=2', '-ldflags', ldflags.join(' '), '-o', output, from);
    }
  } finally {
    fs.rmSync(work, { recursive: true });
  }
}

/**
 * Kubernetes has parts of its own tree in place of modules (`replace k8s.io/api => ./staging/...`), which only counts in
 * a main module. They are published as well: v0.33.13 belongs to v1.33.13.
 */
function mainModule(module: string, version: string, { Go, Require, Replace }: GoMod): string {
  const required = new Set(Require.map(({ Path }) => Path));
  const staged = (Replace ?? []).filter(
    ({ Old, New }) => New.Path.startsWith('./staging/') && required.has(Old.Path),
  );
  const published = version.replace(/^v1\./, 'v0.');
  return [
    'module tradewind.example/programs',
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

/** Makes the folder of a version whole, or changes nothing. */
function buildVersion(version: string): void {
  const folder = path.join(KUBERNETES_DIR, version);
  const draft = path.join(KUBERNETES_DIR, `.${version}.draft`);
  fs.mkdirSync(draft, { recursive: true });
  for (const each of [...SHARED, kubernetes(version)]) {
    // A draft is kept: who was interrupted goes on with the next program.
    const missing = Object.entries(each.packages).filter(([name]) => !works(path.join(draft, name)));
    if (missing.length > 0) build({ ...each, packages: Object.fromEntries(missing) }, draft);
  }
  const faults = missingPrograms(draft);
  if (faults.length > 0) throw new Error(`${draft} lacks ${faults.join(', ')}`);
  writeSums(draft);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(draft, folder);
}

const works = (program: string): boolean =>
  ['--version', 'version'].some(
    (word) => spawnSync(program, [word, '--client']).status === 0 || spawnSync(program, [word]).status === 0,
  );

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  fs.mkdirSync(KUBERNETES_DIR, { recursive: true });
  for (const version of BUILT_VERSIONS) {
    try {
      if (!wholeFolder(path.join(KUBERNETES_DIR, version))) buildVersion(version);
      console.log(`Kubernetes ${version} is in ${KUBERNETES_DIR}.`);
    } catch (error) {
      const reason = (error as Error).message;
      console.log(
        `Kubernetes ${version} was not built: ${reason}. Tests that need it are skipped, each says so.`,
      );
      process.exitCode = process.argv.includes('--if-possible') ? 0 : 1;
    }
  }
}
