import { describe, expect, it } from 'vitest';
import { analysed, jobFor, makeMedia, material, needs } from '../../test/support/engines.ts';

describe('sport', needs('sport', 'opencv', 'skimage'), () => {
  const sport = (media: string) => analysed(jobFor(media, { kind: 'content-moderation', category: 'sport' }));

  it('is seen in a picture of footballers', async () => {
    const { result } = await sport(`${material.opencv}/messi5.jpg`);
    expect(result).toEqual({
      sport_detected: true,
      detection_results: ['sports ball'],
      frames: [{ label: 'sports ball', frame_number: 0, confidence: expect.closeTo(0.69, 1) }],
    });
  });

  it('is seen in a film, in frames by their number', async () => {
    const film = makeMedia('film.mp4', '-loop', '1', '-r', '10', '-i', `${material.opencv}/messi5.jpg`, '-t', '3');
    const { result } = await sport(film);
    expect(result).toMatchObject({
      sport_detected: true,
      frames: [{ frame_number: 0 }, { frame_number: 10 }, { frame_number: 20 }],
    });
  });

  it.each(['astronaut.png', 'coffee.png', 'chelsea.png', 'motorcycle_left.png'])('is not seen in %s', async (name) => {
    const { result } = await sport(`${material.skimage}/${name}`);
    expect(result).toEqual({ sport_detected: false, detection_results: [], frames: [] });
  });
});
