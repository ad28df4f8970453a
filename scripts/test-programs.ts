// What tests need beyond npm's packages. Before "npm test" it says what is missing, and touches nothing. With --install it
// installs that ("npm run install:tests"): packages of Debian as root, the rest below ~/.cache/tradewind.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../engines/programs.ts';
import { unpackedVersions, unpackOpenStack, whyNoPackages } from '../test/openstack/packages.ts';
import { isBuilt } from './build-kubernetes.ts';
import { CACHE, installPython, pythonPackages, run, runIn } from './cache.ts';

const APT = fileURLToPath(new URL('apt.mjs', import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL('../test/clients/python/requirements.txt', import.meta.url));
const PROGRAMS = path.join(CACHE, 'programs');
/** Keeps a machine without network from waiting for minutes. */
const PATIENCE = ['-o', 'Acquire::http::Timeout=20', '-o', 'Acquire::Retries=1'];

/** Of what a test needs: the package that has it, what shows that it is there (a program, or a path), and what is skipped without it. */
type Package = readonly [name: string, shownBy: string, skipped: string];

const SOUNDS = '/usr/share/asterisk/sounds';
/** Of Debian, installed by apt-get. */
const PACKAGES: readonly Package[] = [
  ['chromium', 'chromium', 'the console'],
  ['ffmpeg', 'ffmpeg', 'AI tasks'],
  ['pocketsphinx', 'pocketsphinx_batch', 'AI tasks'],
  ['pocketsphinx-en-us', '/usr/share/pocketsphinx/model/en-us', 'AI tasks'],
  ['bubblewrap', 'bwrap', 'the sandbox of AI tasks'],
  ['flite', 'flite', 'speech in AI tasks'],
  ['pocketsphinx-testdata', '/usr/share/pocketsphinx/test/data', 'the quality of AI engines'],
  ['asterisk-core-sounds-en', '/usr/share/doc/asterisk-core-sounds-en', 'the quality of AI engines'],
  ['asterisk-core-sounds-en-g722', `${SOUNDS}/en_US_f_Allison/vm-newuser.g722`, 'the quality of AI engines'],
  ['asterisk-core-sounds-es-g722', `${SOUNDS}/es_MX_f_Allison/demo-congrats.g722`, 'the quality of AI engines'],
  ['opencv-doc', '/usr/share/doc/opencv-doc/examples/data', 'pictures in AI tasks'],
  ['python3-skimage', '/usr/lib/python3/dist-packages/skimage/data', 'pictures in AI tasks'],
  ['faketime', 'faketime', 'clocks that differ'],
  ['poppler-utils', 'pdftotext', 'what invoices look like'],
  ['postgresql-client', 'pg_dump', 'the commands of operators.md'],
];
/** Programs of Debian's packages that are unpacked, not installed, as some would start a service. */
const UNPACKED = {
  promtool: ['prometheus', 'metrics and alerts'],
  kubectl: ['kubernetes-client', "a cluster's kubeconfig"],
  caddy: ['caddy', 'several servers behind a proxy'],
} as const;
/** What nothing here installs. */
const OTHERS: readonly Package[] = [
  ['Go, from https://go.dev/doc/install', 'go', "the test kit for Go, the autoscaler's flags"],
  ['systemd', 'systemd-analyze', 'the units of systemd'],
];
const names = Object.keys(UNPACKED) as (keyof typeof UNPACKED)[];

export const pythonClients = () => pythonPackages('python-clients', REQUIREMENTS);

/** Returns the system's program, else ours, else undefined. */
export function program(name: keyof typeof UNPACKED): string | undefined {
  const own = path.join(PROGRAMS, name);
  return [name, own].find((each) => spawnSync(each, ['--help']).error === undefined);
}

const isMissing = ([, shownBy]: Package): boolean =>
  path.isAbsolute(shownBy) ? !fs.existsSync(shownBy) : findProgram(shownBy, process.env.PATH ?? '') === undefined;

/** Returns one text that says what is missing, what is skipped without it, and how to get it; undefined if nothing is. */
function whatIsMissing(): string | undefined {
  const line = (name: string, skipped: string) => `  ${name}: ${skipped}`;
  const lineOf = ([name, , skipped]: Package) => line(name, skipped);
  const hasOpenStack = unpackedVersions() !== undefined;
  const whyNotHere = whyNoPackages();
  const ours = [
    ...PACKAGES.filter(isMissing).map(lineOf),
    ...names.filter((name) => !program(name)).map((name) => line(name, UNPACKED[name][1])),
    ...(pythonClients().installed
      ? []
      : [line('Python clients', 'the official SDK, schemathesis, the test kit for pytest')]),
    ...(whyNotHere === undefined && !hasOpenStack ? [line("OpenStack, from Debian's packages", 'a real cloud')] : []),
  ];
  const others = [
    ...OTHERS.filter(isMissing).map(lineOf),
    ...(isBuilt()
      ? []
      : [line('Kubernetes, built by "npx tsx scripts/build-kubernetes.ts" in forty minutes', 'real clusters')]),
    ...(whyNotHere === undefined ? [] : [line(`OpenStack: ${whyNotHere}`, 'a real cloud')]),
  ];
  if (ours.length + others.length === 0) return undefined;
  return [
    'Tests are skipped for want of what is missing here. Nothing was installed.',
    ...(ours.length > 0 ? ['"npm run install:tests" installs:', ...ours] : []),
    ...(others.length > 0 ? ['It leaves to you:', ...others] : []),
  ].join('\n');
}

/** Returns why some of it could not be installed. */
async function install(): Promise<string[]> {
  const packages = PACKAGES.filter(isMissing).map(([name]) => name);
  const faults = [
    packages.length > 0 &&
      spawnSync(process.execPath, [APT, ...packages], { stdio: 'inherit' }).status !== 0 &&
      `${packages.join(', ')}: apt-get or root is missing, or failed`,
    installPython('python-clients', REQUIREMENTS),
    ...names.map(unpack),
    // Elsewhere it isn't a fault: nobody can get it there.
    whyNoPackages() === undefined && (await unpackOpenStack()),
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

/** Returns why a program could not be unpacked. */
function unpack(name: keyof typeof UNPACKED): string | undefined {
  if (program(name) !== undefined) return undefined;
  const [from] = UNPACKED[name];
  console.log(`Unpacking ${name} from Debian's ${from} to ${PROGRAMS} ...`);
  fs.mkdirSync(PROGRAMS, { recursive: true });
  const folder = fs.mkdtempSync(path.join(PROGRAMS, '.unpacking-'));
  try {
    const download = () => runIn(folder, 'apt-get', ...PATIENCE, 'download', from);
    // Only root can update the package lists.
    const fault = download() && (run('apt-get', ...PATIENCE, 'update') ?? download());
    if (fault !== undefined) return fault;
    const [file = ''] = fs.readdirSync(folder);
    const unpacked = runIn(folder, 'dpkg', '--extract', file, '.');
    if (unpacked !== undefined) return unpacked;
    fs.renameSync(path.join(folder, 'usr/bin', name), path.join(PROGRAMS, name));
    return program(name) === undefined ? `${name} doesn't start` : undefined;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--install')) {
    const faults = await install();
    for (const fault of faults) console.log(`Not installed: ${fault}. Tests that need it are skipped, each says so.`);
    if (faults.length > 0 && !process.argv.includes('--if-possible')) process.exitCode = 1;
  } else console.log(whatIsMissing() ?? 'All that tests need is there.');
}
