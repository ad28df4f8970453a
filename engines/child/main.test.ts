import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../test/support/engine-settings.ts';
import { jobFor, makeFile, makeMedia, needs } from '../../test/support/engines.ts';
import { analysisProgram } from '../analysis-program.ts';
import { analyse } from '../isolation/analysis.ts';
import type { AnalysisJob } from '../job.ts';

const program = analysisProgram(DEFAULT_SETTINGS);
const film = () => makeMedia('film.mp4', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:d=3');

function run(job: AnalysisJob, signal = new AbortController().signal, orderOf = program.orderOf) {
  const heard: string[] = [];
  const hear = ({ type }: { type: string }) => void heard.push(type);
  return analyse({ ...program, orderOf }, job, { signal, hear }).then((end) => ({ end, heard }));
}

describe('the child', needs('media', 'nsfw'), () => {
  it('analyses a medium and says how far it is', async () => {
    const { end, heard } = await run(jobFor(film(), { kind: 'content-moderation' }));
    expect(end).toEqual({
      type: 'result',
      result: { nsfw_detected: false, detection_results: [], frames: [] },
    });
    expect(heard.slice(0, 3)).toEqual(['stage', 'facts', 'stage']);
    expect(heard).toContain('progress');
  });

  it('says why a medium is of no use', async () => {
    const { end } = await run(jobFor(makeFile('a.mp4', ''), { kind: 'content-moderation' }));
    expect(end).toEqual({ type: 'failed', reason: 'The file is empty (0 bytes).' });
  });

  it('says what is unsupported before it reads the medium', async () => {
    const job = jobFor('/nowhere/film.mp4', { kind: 'content-moderation', category: 'hard_nudity' });
    const { end } = await run(job);
    expect(end).toMatchObject({
      type: 'failed',
      reason: expect.stringContaining('hard_nudity is unsupported here'),
    });
  });

  it('takes what it does not understand, and a medium that is gone, for faults of ours', async () => {
    const job = jobFor('/nowhere/film.mp4', { kind: 'content-moderation' });
    expect((await run(job)).end).toMatchObject({ type: 'fault', message: expect.stringContaining('ENOENT') });
    const { end } = await run(job, undefined, (wrong) => ({ ...program.orderOf(wrong), more: 1 }));
    expect(end).toMatchObject({ type: 'fault', message: expect.stringContaining('Not an order') });
  });

  it('knows nothing of the environment of the server', () => {
    expect(Object.keys(program.environment).sort()).toEqual(['LC_ALL', 'PATH']);
  });
});
