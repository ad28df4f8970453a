// What the rig keeps in its folder from one start to the next.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt } from '../../src/lib/errors.ts';
import { type FileLock, lockFile } from '../../src/lib/file-lock.ts';
import { configurationFiles, FOLDERS, type Settings } from './configuration.ts';
import { databaseFolder, databases, schemas } from './first-start.ts';
import { GUEST_FILES, GUEST_FOLDERS } from './guest.ts';
import { HYPERVISOR_FOLDERS, hypervisorFiles } from './hypervisor.ts';
import { unpackedVersions } from './packages.ts';

/** Another test that has the same rig is waited for. */
const TURN_MS = 1_200_000;
const TURN_POLL_MS = 1_000;
const LOCK = 'lock';
/** There while a rig runs that the command "up" has started. */
const OUTLIVES = 'run/outlives';
/** What the cloud was made of. Written when all of it was there. */
const MARKER = 'made-of';

/** Two rigs can't share a folder. Waits for another test's to end. */
export async function takeFolder(folder: string, progress: (line: string) => void): Promise<FileLock> {
  fs.mkdirSync(folder, { recursive: true });
  const deadline = Date.now() + TURN_MS;
  for (let first = true; ; first = false) {
    const lock = lockFile(path.join(folder, LOCK));
    if (lock) return lock;
    if (fs.existsSync(path.join(folder, OUTLIVES))) throw new Error(`A rig runs in ${folder}: "rig.ts down" ends it`);
    if (Date.now() > deadline) throw new Error(`Another rig still runs in ${folder}`);
    if (first) progress(`waiting for another rig in ${folder} to end`);
    await sleep(TURN_POLL_MS);
  }
}

/**
 * Writes the configuration. Returns whether the cloud is new: one of other packages or settings is removed, and one whose
 * first start was interrupted.
 */
export function prepare(settings: Settings, outlives: boolean): boolean {
  const { folder } = settings;
  const isNew = attempt(() => fs.readFileSync(path.join(folder, MARKER), 'utf8')) !== ingredients(settings);
  for (const name of isNew ? fs.readdirSync(folder).filter((each) => each !== LOCK) : ['run', 'log'])
    fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  const more = settings.node === 'libvirt' ? [...HYPERVISOR_FOLDERS, ...GUEST_FOLDERS] : [];
  for (const name of [...FOLDERS, ...more]) fs.mkdirSync(path.join(folder, name), { recursive: true });
  for (const [name, text] of Object.entries(filesOf(settings))) {
    fs.mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text, { mode: /^(?:system\/usr|guest)\//.test(name) ? 0o755 : 0o644 });
  }
  if (outlives) fs.writeFileSync(path.join(folder, OUTLIVES), '');
  return isNew;
}

const filesOf = (settings: Settings): Record<string, string> => ({
  ...configurationFiles(settings),
  ...(settings.node === 'libvirt' ? { ...hypervisorFiles(settings), ...GUEST_FILES } : {}),
});

/** The cloud may be started again. */
export const complete = (settings: Settings): void =>
  fs.writeFileSync(path.join(settings.folder, MARKER), ingredients(settings));

function ingredients(settings: Settings): string {
  const made = [
    unpackedVersions(),
    filesOf(settings),
    databaseFolder(settings),
    databases(settings),
    schemas(settings),
  ];
  return createHash('sha256').update(JSON.stringify(made)).digest('hex');
}
