/**
 * Plants each fault of `faults.ts` in a copy of the checkout and tells which fast test notices it: `npm run mutate:planted`,
 * or with a part of some names for these alone. Fails if a fault stays unnoticed. A test counts if it passes without the fault.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PARTS } from '../../scripts/source-files.ts';
import { FAULTS, type PlantedFault } from './faults.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const wanted = process.argv.slice(2);
const chosen = FAULTS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));

const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-planted-'));
try {
  copyCheckout();
  const places = chosen.map((fault) => ({ fault, file: fileOf(fault) }));
  const unnoticed: string[] = [];
  for (const { fault, file } of places) {
    const by = noticed(fault, file);
    if (by === undefined) unnoticed.push(fault.name);
    console.log(`${by === undefined ? 'NOT FOUND' : 'found'}: ${fault.name} (${file})${by ? `\n  by ${by}` : ''}`);
  }
  console.log(`${chosen.length - unnoticed.length} of ${chosen.length} found`);
  process.exitCode = unnoticed.length > 0 ? 1 : 0;
} finally {
  fs.rmSync(copy, { recursive: true, force: true });
}

/** Copies what git knows of, as it is now, and what was built; what npm installed is only linked. */
function copyCheckout(): void {
  const files = git('ls-files', '--cached', '--others', '--exclude-standard').filter((file) =>
    fs.existsSync(path.join(ROOT, file)),
  );
  for (const file of files) fs.cpSync(path.join(ROOT, file), path.join(copy, file));
  if (fs.existsSync(path.join(ROOT, 'dist')))
    fs.cpSync(path.join(ROOT, 'dist'), path.join(copy, 'dist'), { recursive: true });
  for (const folder of ['.', 'scripts', 'test', 'engines', 'console', 'console/types']) {
    const installed = path.join(ROOT, folder, 'node_modules');
    if (fs.existsSync(installed)) fs.symlinkSync(installed, path.join(copy, folder, 'node_modules'));
  }
}

/** Finds the one file with the text of a fault, wherever it has moved. */
function fileOf({ name, text }: PlantedFault): string {
  const sources = git('ls-files', '--cached', '--others', '--exclude-standard', 'src', ...PARTS).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && fs.existsSync(path.join(copy, file)),
  );
  const found = sources.flatMap((file) =>
    Array<string>(fs.readFileSync(path.join(copy, file), 'utf8').split(text).length - 1).fill(file),
  );
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`"${name}": its text is ${found.length} times: ${found.join(', ') || 'nowhere'}`);
  return only;
}

/** Plants the fault and returns the test that fails because of it. */
function noticed({ text, becomes, noticedBy }: PlantedFault, file: string): string | undefined {
  const at = path.join(copy, file);
  const source = fs.readFileSync(at, 'utf8');
  for (const tests of [
    ['run', ...noticedBy],
    ['related', file, '--run'],
  ]) {
    fs.writeFileSync(
      at,
      source.replace(text, () => becomes),
    );
    const failure = failureOf(tests);
    fs.writeFileSync(at, source);
    const anyway = failure && failureOf(['run', failure.file]);
    if (anyway) console.log(`${anyway.file} fails without a fault as well: ${anyway.test}`);
    else if (failure) return `${failure.file}: ${failure.test}`;
  }
  return undefined;
}

/** Runs fast tests, and returns the first failure. */
function failureOf(args: string[]): { file: string; test: string } | undefined {
  const report = path.join(copy, 'report.json');
  fs.rmSync(report, { force: true });
  const options = ['--project', 'fast', '--bail', '1', '--reporter', 'json', '--outputFile', report];
  const { status } = spawnSync('npx', ['vitest', ...args, ...options], { cwd: copy, stdio: 'ignore' });
  if (status === 0) return undefined;
  const { testResults } = JSON.parse(fs.readFileSync(report, 'utf8')) as {
    testResults: {
      name: string;
      status: string;
      message: string;
      assertionResults: { status: string; fullName: string }[];
    }[];
  };
  const failed = testResults.find(({ status: ended }) => ended === 'failed');
  if (!failed) throw new Error(`vitest ended with ${status}, and names no test`);
  const test = failed.assertionResults.find(({ status: ended }) => ended === 'failed');
  return { file: path.relative(copy, failed.name), test: test?.fullName ?? failed.message };
}

function git(...args: string[]): string[] {
  return spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
}
