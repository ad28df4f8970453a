// Makes what a release consists of, in release/: the npm package, an SBOM (CycloneDX) and the checksums of both.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack } from './pack.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const FOLDER = 'release';
const { name, version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
if (!fs.readFileSync('CHANGELOG.md', 'utf8').includes(`\n## [${version}] - `)) {
  console.error(
    `CHANGELOG.md says nothing about ${version}. Give what is new under [Unreleased] that version and the date.`,
  );
  process.exit(1);
}
fs.rmSync(FOLDER, { recursive: true, force: true });
fs.mkdirSync(FOLDER);
pack(FOLDER);
// With the packages that the bundle contains.
const sbom = npm(['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only']);
fs.writeFileSync(path.join(FOLDER, `${name}-${version}.cdx.json`), sbom);
const sums = fs.readdirSync(FOLDER).map((file) => `${sha256(path.join(FOLDER, file))}  ${file}\n`);
fs.writeFileSync(path.join(FOLDER, 'SHA256SUMS'), sums.join(''));
console.log(`${sums.join('')}in ${FOLDER}/; "sha256sum --check SHA256SUMS" checks them.`);

function npm(args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status === 0) return stdout;
  console.error(`npm ${args.join(' ')} failed:\n${stdout}${stderr}`);
  process.exit(1);
}

function sha256(file) {
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}
