import fs from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS } from '../../test/support/engine-settings.ts';
import { analysed, jobFor, makeMedia, material, needs, scratch } from '../../test/support/engines.ts';
import reference from '../fixtures/nsfw-scores.json' with { type: 'json' };
import type { Frame } from '../interfaces.ts';
import { DEFAULT_LIMITS } from '../job.ts';
import { createMediaTools } from '../media/tools.ts';
import { createPrograms } from '../programs.ts';
import { NSFW_FROM } from './findings.ts';
import type { NsfwModerator } from './nsfw.ts';

/** The other views of one chessboard that a camera is calibrated with. QUALITY=all looks at them too. */
const REPEATED = process.env.QUALITY === 'all' ? /^$/ : /^(left|right)(0[2-9]|1\d)\.jpg$/;

const tools = createMediaTools({
  programs: createPrograms({
    searchPath: DEFAULT_SETTINGS.searchPath,
    folder: scratch,
    limits: DEFAULT_LIMITS,
  }),
  ffmpeg: '/usr/bin/ffmpeg',
  ffprobe: '/usr/bin/ffprobe',
  folder: scratch,
  limits: DEFAULT_LIMITS,
});

describe('the classifiers of nsfwjs', needs('nsfw', 'opencv', 'skimage'), () => {
  let moderator: NsfwModerator;
  beforeAll(async () => {
    const { createNsfwModerator } = await import('./nsfw.ts');
    moderator = await createNsfwModerator();
  });

  const frames = new Map<string, Promise<Frame>>();
  function frameOf(picture: string): Promise<Frame> {
    const frame = frames.get(picture) ?? read(picture);
    frames.set(picture, frame);
    return frame;
  }
  async function read(picture: string): Promise<Frame> {
    const facts = await tools.inspect(picture);
    for await (const frame of tools.frames(picture, facts, { ...moderator.form, intervalSeconds: 1 })) return frame;
    throw new Error('no frame');
  }

  it.each(Object.entries(reference.scores))('say of %s what the original says', async (picture, wanted) => {
    const scores = await moderator.scores(await frameOf(picture));
    for (const name of ['mobilenet_v2', 'mobilenet_v2_mid'] as const) {
      expect(scores[name]).toHaveLength(5);
      for (const [index, value] of wanted[name].entries()) expect(scores[name][index]).toBeCloseTo(value, 2);
    }
  });

  it('take no other harmless picture for nsfw but a close-up of a retina, all red', async () => {
    const pictures = [material.opencv, material.skimage].flatMap((folder) =>
      fs
        .readdirSync(folder)
        .filter((name) => /\.(jpg|png)$/.test(name) && !/truncated|foo3x5|multipage/.test(name))
        .filter((name) => !REPEATED.test(name))
        .map((name) => `${folder}/${name}`),
    );
    expect(pictures.length).toBeGreaterThan(60);
    const mistaken: { picture: string; confidence: number }[] = [];
    for (const picture of pictures) {
      const confidence = await moderator.confidence(await frameOf(picture));
      if (confidence > NSFW_FROM) mistaken.push({ picture, confidence });
    }
    process.stdout.write(`of ${pictures.length} harmless pictures: ${JSON.stringify(mistaken)}\n`);
    expect(mistaken.map(({ picture }) => picture)).toEqual([`${material.skimage}/microaneurysms.png`]);
  });
});

describe('moderation of a film', needs('nsfw', 'opencv'), () => {
  it('that is harmless finds nothing', async () => {
    const film = makeMedia('film.mp4', '-i', `${material.opencv}/vtest.avi`, '-t', '8');
    const { result, messages } = await analysed(jobFor(film, { kind: 'content-moderation' }));
    expect(result).toEqual({ nsfw_detected: false, detection_results: [], frames: [] });
    expect(messages.slice(0, 2).map(({ type }) => type)).toEqual(['stage', 'facts']);
  });
});
