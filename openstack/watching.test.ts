import { pino } from 'pino';
import { expect, it } from 'vitest';
import { type Ref, Unavailable } from '../src/backends/contract/backend.ts';
import { watchOf } from './watching.ts';

const log = pino({ level: 'silent' });
type Look = Record<'network' | 'volume', Record<string, string> | 'away'>;

/** Returns what is reported, look by look; the last may throw. */
async function reportedOf(looks: readonly Look[]): Promise<string[]> {
  const gone = new AbortController();
  const next = { network: 0, volume: 0 };
  async function* list(kind: keyof Look): AsyncGenerator<Pick<Ref, 'handle' | 'id' | 'kind'>> {
    const there = looks[next[kind]++]?.[kind];
    if (there === undefined) gone.abort();
    if (there === 'away') throw new Unavailable(`${kind} is away`);
    for (const [id, handle] of Object.entries(there ?? {})) yield { kind, id, handle };
  }
  const watch = watchOf(['network', 'volume'], list, (handle) => handle as string, 1);
  const reported: string[] = [];
  try {
    for await (const { id, seen } of watch({ log, signal: gone.signal })) {
      if (gone.signal.aborted) break;
      reported.push(`look ${next.network}: ${id} is ${seen ?? 'gone'}`);
    }
  } catch (error) {
    if (!gone.signal.aborted) reported.push(`look ${next.network}: ${(error as Error).message}`);
  }
  return reported;
}

it('reports what is new, changed or gone since the look before', async () => {
  const reported = await reportedOf([
    { network: { n: 'small' }, volume: {} },
    { network: { n: 'small' }, volume: { v: 'small' } },
    { network: { n: 'large' }, volume: { v: 'small' } },
    { network: { n: 'large' }, volume: {} },
  ]);
  expect(reported).toEqual(['look 2: v is small', 'look 3: n is large', 'look 4: v is gone']);
});

it('goes on while one service is away, and reports what changed meanwhile when it is back', async () => {
  const reported = await reportedOf([
    { network: { n: 'small' }, volume: { v: 'small', w: 'small' } },
    { network: { n: 'large' }, volume: 'away' },
    { network: {}, volume: 'away' },
    { network: {}, volume: { v: 'large' } },
  ]);
  expect(reported).toEqual(['look 2: n is large', 'look 3: n is gone', 'look 4: v is large', 'look 4: w is gone']);
});

it('fails when no service answers', async () => {
  const reported = await reportedOf([
    { network: { n: 'small' }, volume: {} },
    { network: 'away', volume: 'away' },
  ]);
  expect(reported).toEqual([expect.stringMatching(/^look 2: \w+ is away$/)]);
});
