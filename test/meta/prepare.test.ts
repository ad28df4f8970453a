import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-prepare-'));

/** What scripts/prepare.mjs looks at, in small; nothing has to be installed. */
const FILES = {
  'package.json': '{}',
  'package-lock.json': '{"packages": {}}',
  'node_modules/.package-lock.json': '{"packages": {}}',
  'scripts/prepare.mjs': fs.readFileSync('scripts/prepare.mjs', 'utf8'),
  'scripts/node-version.mjs': fs.readFileSync('scripts/node-version.mjs', 'utf8'),
  'scripts/build.mjs': `import fs from 'node:fs'; fs.writeFileSync(process.argv[2] + '/built', '');`,
  'scripts/entry.mjs': '',
  'scripts/not-bundled.mjs': '',
  'scripts/source-lines.mjs': '',
  'scripts/package.json': '{"dependencies": {"esbuild": "1.0.0"}}',
  'scripts/package-lock.json': '{"packages": {}}',
  'scripts/node_modules/.package-lock.json': '{"packages": {}}',
  'src/main.ts': '',
  'src/main.test.ts': '',
  'console/src/main.tsx': '',
  'console/index.html': '',
  'console/theme.js': '',
  'console/icon.svg': '',
  'console/package-lock.json': '{"packages": {}}',
  'console/node_modules/.package-lock.json': '{"packages": {}}',
  'cli/main.ts': '',
  'engines/index.ts': '',
  'kubernetes/index.ts': '',
  'openstack/index.ts': '',
  'postgres/index.ts': '',
  'simulation/index.ts': '',
  'test-kit/index.ts': '',
  'migrations/0001.ts': '',
};

beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) write(name, text);
});
afterAll(() => fs.rmSync(root, { recursive: true }));

function write(name: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), text);
}

const prepare = () => execFileSync(process.execPath, [path.join(root, 'scripts/prepare.mjs')]).toString();
const BUILT = 'tradewind: building ...\n';

it('builds once', () => {
  expect(prepare()).toBe(BUILT);
  expect(fs.existsSync(path.join(root, 'dist/built'))).toBe(true);
  expect(prepare()).toBe('');
});

it.each([
  'src/main.ts',
  'console/src/main.tsx',
  'console/index.html',
  'cli/main.ts',
  'engines/index.ts',
  'kubernetes/index.ts',
  'openstack/index.ts',
  'postgres/index.ts',
  'simulation/index.ts',
  'test-kit/index.ts',
  'migrations/0001.ts',
  'package.json',
  'scripts/build.mjs',
  'scripts/entry.mjs',
  'scripts/not-bundled.mjs',
  'scripts/source-lines.mjs',
  // A new esbuild, which builds something else from the same sources.
  'scripts/package.json',
] as const)('builds again when %s changes', (name) => {
  write(name, `${FILES[name]}\n`);
  expect(prepare()).toBe(BUILT);
  expect(prepare()).toBe('');
});

it.each(['src/main.test.ts', 'package-lock.json'] as const)('does not when %s changes', (name) => {
  write(name, `${FILES[name]}\n`);
  expect(prepare()).toBe('');
});

it('does not when a file is written as it was', () => {
  fs.utimesSync(path.join(root, 'src/main.ts'), 0, 0);
  expect(prepare()).toBe('');
});
