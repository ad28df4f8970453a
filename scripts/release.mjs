// Makes what a release consists of, in release/ or the folder that is given: the npm package, the packages for tests with
// Vitest, pytest and Go, an SBOM (CycloneDX) and the checksums of all.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack, packed, run } from './pack.mjs';

const FOLDER = path.resolve(process.argv[2] ?? fileURLToPath(new URL('../release', import.meta.url)));
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { name, version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
if (!fs.readFileSync('CHANGELOG.md', 'utf8').includes(`\n## [${version}] - `)) {
  console.error(
    `CHANGELOG.md says nothing about ${version}. Give what is new under [Unreleased] that version and the date.`,
  );
  process.exit(1);
}
if (process.argv[2] === undefined) fs.rmSync(FOLDER, { recursive: true, force: true });
fs.mkdirSync(FOLDER, { recursive: true });
// The package for Vitest is compiled.
run('node', ['scripts/prepare.mjs', '--dev'], '.');
pack(FOLDER);
packKits();
// With the packages that the bundle contains.
const sbom = npm(['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only']);
fs.writeFileSync(path.join(FOLDER, `${name}-${version}.cdx.json`), sbom);
const list = path.join(FOLDER, 'SHA256SUMS');
// Of an earlier run.
fs.rmSync(list, { force: true });
const sums = fs.readdirSync(FOLDER).map((file) => `${sha256(path.join(FOLDER, file))}  ${file}\n`);
fs.writeFileSync(list, sums.join(''));
console.log(`${sums.join('')}in ${FOLDER}; "sha256sum --check SHA256SUMS" checks them.`);

function packKits() {
  const staging = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-kits-'));
  const copy = (kit, to, ...names) => {
    for (const each of names)
      fs.cpSync(path.join('kits', kit, each), path.join(staging, to, each), { recursive: true });
    return to;
  };
  const tar = (from, file) => run('tar', ['-czf', path.join(FOLDER, file), from], staging);
  try {
    copy('vitest', 'vitest', 'package.json');
    run('npx', ['--no-install', 'tsc', '--project', 'kits/vitest', '--outDir', path.join(staging, 'vitest/dist')], '.');
    packed(path.join(staging, 'vitest'), FOLDER);
    const sdist = `tradewind_pytest-${version}`;
    tar(copy('pytest', sdist, 'pyproject.toml', 'tradewind_pytest/__init__.py'), `${sdist}.tar.gz`);
    tar(copy('go', 'tradewindtest', 'go.mod', 'tradewindtest.go', 'start.go'), `tradewindtest-go-${version}.tar.gz`);
  } finally {
    fs.rmSync(staging, { recursive: true });
  }
}

function npm(args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status === 0) return stdout;
  console.error(`npm ${args.join(' ')} failed:\n${stdout}${stderr}`);
  process.exit(1);
}

function sha256(file) {
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}
