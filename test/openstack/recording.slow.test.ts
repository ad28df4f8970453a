import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { expect, it } from 'vitest';
import { newProject } from './project.ts';
import { type Exchange, readRecording, startRecorder, writeRecording } from './recording.ts';
import { missing, startRig } from './rig.ts';
import { openBackend, runScenario } from './scenario.ts';

const file = path.join(import.meta.dirname, 'recordings/zed.jsonl');
const reason = missing();

it.skipIf(reason !== undefined)(`fast tests read what the cloud says today ${reason ?? ''}`, async () => {
  const rig = await startRig();
  const recorder = await startRecorder();
  try {
    const { clouds, externalNetworkId } = await newProject(rig, `recording-${randomUUID()}`);
    const backend = openBackend(clouds.replace('http://127.0.0.1:', `${recorder.origin}/`), externalNetworkId);
    await runScenario(backend, externalNetworkId, 500);
    const { exchanges } = recorder;
    if (process.env.TRADEWIND_WRITE_RECORDING) writeRecording(file, { release: 'Zed', externalNetworkId, exchanges });
    const today = formsOf(exchanges);
    for (const [request, fields] of formsOf(readRecording(file).exchanges))
      expect([request, [...(today.get(request) ?? [])]]).toEqual([request, expect.arrayContaining([...fields])]);
  } finally {
    await recorder.close();
    await rig.stop();
  }
});

/** Returns which fields answers have, by what was asked: whatever has an ID of its own counts as one. */
function formsOf(exchanges: readonly Exchange[]): Map<string, Set<string>> {
  const forms = new Map<string, Set<string>>();
  for (const { method, path: asked, status, answer } of exchanges) {
    const request = `${method} ${asked.replaceAll(/[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/g, '*')} ${status}`;
    const fields = forms.get(request) ?? new Set();
    // States that pass quickly may be seen or not.
    if (method !== 'GET' || !forms.has(request)) addFields(fields, answer, '');
    forms.set(request, fields);
  }
  return forms;
}

function addFields(fields: Set<string>, value: unknown, at: string): void {
  if (Array.isArray(value)) for (const each of value) addFields(fields, each, `${at}[]`);
  else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value)) addFields(fields, each, `${at}.${name}`);
  else fields.add(at);
}
