import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../src/lib/own-program.ts';
import { removeInstallations } from '../support/npx.ts';
import { startService, type TestService } from '../support/service.ts';

/** Follows docs/testers.md from an empty folder, with the files of a release; then runs the packages' own tests on one server. */
const ROOT = path.resolve(import.meta.dirname, '../..');
const KITS = path.join(ROOT, 'kits');
const DOCUMENT = fs.readFileSync(path.join(ROOT, 'docs/testers.md'), 'utf8');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-kits-'));
const release = path.join(work, 'release');
const INSTALLING = 600_000;

const GO = 'cp own/tradewindtest_test.go tradewind/tradewindtest && cd tradewind/tradewindtest && go test -count=1';

interface Kit {
  heading: string;
  needs: string[];
  passed: RegExp;
  /** The folder with its own tests, and what runs them all, or one of them, and what they say then. */
  own: { tests: string; all: [command: string, passed: RegExp]; one: [command: string, passed: RegExp] };
}
const kits: Kit[] = [
  {
    heading: 'Vitest',
    needs: ['npm'],
    passed: /Tests\s+1 passed/,
    own: {
      tests: 'vitest/test',
      all: ['npx vitest run own', /Tests\s+110 passed/],
      one: ['npx vitest run own --testNamePattern "refused for a while"', /Tests\s+1 passed/],
    },
  },
  {
    heading: 'pytest',
    needs: ['python3', 'npm'],
    passed: /1 passed/,
    own: {
      tests: 'pytest/tests',
      all: ['.venv/bin/pytest own/test_kit.py', /7 passed/],
      one: ['.venv/bin/pytest own/test_kit.py -k refused', /1 passed, 6 deselected/],
    },
  },
  {
    heading: 'Go',
    needs: ['go', 'npm'],
    passed: /ok\s+example\.com\/project/,
    own: {
      tests: 'go',
      all: [`${GO} ./...`, /ok\s+tradewind\.example\/tradewindtest/],
      one: [`${GO} -v -run ForAWhile ./...`, /^--- PASS: TestARequestThatIsRefusedForAWhile/m],
    },
  },
];
const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_TEST_API: 'true', TRADEWIND_LOG_LEVEL: 'silent' });
  const made = spawnSync(process.execPath, ['scripts/release.mjs', release], { cwd: ROOT, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
}, INSTALLING);
afterAll(async () => {
  await service.stop();
  removeInstallations(work);
  fs.rmSync(work, { recursive: true, force: true });
});

it('every package is of this release', () => {
  const files = fs.readdirSync(release).filter((name) => name !== 'SHA256SUMS');
  expect(files.filter((name) => !name.includes(version))).toEqual([]);
  expect(fs.readFileSync(path.join(KITS, 'pytest/pyproject.toml'), 'utf8')).toContain(`version = "${version}"`);
  const named = DOCUMENT.match(/tradewind[\w-]*-\d+\.\d+\.\d+\.(?:tgz|tar\.gz)/g) ?? [];
  expect([...new Set(named)].filter((name) => !files.includes(name))).toEqual([]);
});

it('installs without complaints about the version of Node', { timeout: INSTALLING }, async () => {
  const folder = emptyProject('plain');
  const { stderr, stdout } = await run(folder, `npm install ./tradewind/tradewind-${version}.tgz`);
  expect(stdout + stderr).not.toContain('EBADENGINE');
});

it('is the only package: what "npm pack" alone would make has dependencies that need a newer Node', async () => {
  await expect(run(ROOT, 'npm pack --dry-run')).rejects.toThrow('npm run release');
});

for (const { heading, needs, passed, own } of kits) {
  const missing = needs.filter((program) => !isThere(program));
  if (missing.length > 0)
    process.stderr.write(`SKIPPED, for want of ${missing.join(', ')}: the test kit for ${heading}\n`);
  describe.skipIf(missing.length > 0)(`the package for ${heading}`, { timeout: INSTALLING }, () => {
    let folder: string;
    beforeAll(() => {
      folder = emptyProject(heading);
    });

    it('comes from an empty folder to a green test, by the document alone', async () => {
      const began = performance.now();
      let commands = '';
      for (const [language = '', text = ''] of blocksBelow(heading)) {
        if (language === 'sh') commands += text;
        else {
          const [, file = ''] = /^(?:\/\/|#) (\S+)\n/.exec(text) ?? [];
          expect(file).not.toBe('');
          fs.writeFileSync(path.join(folder, file), text);
        }
      }
      const { stdout } = await run(folder, commands);
      process.stderr.write(`${heading}: green after ${Math.round((performance.now() - began) / 1_000)} s\n`);
      expect(stdout).toMatch(passed);
    });

    it('passes its own tests, on the server of TRADEWIND_URL and TRADEWIND_TOKEN', async () => {
      fs.cpSync(path.join(KITS, own.tests), path.join(folder, 'own'), { recursive: true });
      const named = { TRADEWIND_URL: service.url, TRADEWIND_TOKEN: service.http.token };
      const [command, passed] = own.all;
      expect((await run(folder, command, named)).stdout).toMatch(passed);
    });

    it('finds the server of the variables of the SDK', async () => {
      fs.cpSync(path.join(KITS, own.tests), path.join(folder, 'own'), { recursive: true });
      const named = { GCORE_BASE_URL: `${service.url}/gcore`, GCORE_API_KEY: service.http.token };
      const [command, passed] = own.one;
      expect((await run(folder, command, named)).stdout).toMatch(passed);
    });
  });
}

/** Makes a folder that has nothing but the files of the release. */
function emptyProject(name: string): string {
  const folder = path.join(work, name);
  fs.cpSync(release, path.join(folder, 'tradewind'), { recursive: true });
  return folder;
}

function blocksBelow(heading: string): (string | undefined)[][] {
  const section = DOCUMENT.split(/^##+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => [language, text]);
}

/** Without what npm and Vitest tell these tests. */
async function run(cwd: string, commands: string, more: Record<string, string | undefined> = {}) {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|TRADEWIND_|GCORE_|VITEST|TEST$|NODE_ENV|NODE_OPTIONS|FORCE_COLOR)/.test(name),
  );
  const env = { ...Object.fromEntries(own), CI: 'true', NO_COLOR: '1', ...more };
  return promisify(execFile)('sh', ['-euc', commands], { cwd, env, maxBuffer: 2 ** 26 }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`);
  });
}
