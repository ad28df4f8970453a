import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { activateAiFeatures, createAiTask } from '../support/ai-tasks.ts';
import { accessibilityFaults, describeInBrowser, setUpBrowser } from '../support/browser.ts';
import { finishAiTask } from '../support/finished-ai-tasks.ts';
import { type MediaServer, startMediaServer } from '../support/media-server.ts';

const LONG = 300_000;

const TRANSCRIPT = {
  speech_detected: true,
  concatenated_text: 'good morning how are you',
  subtitles: [
    { start_time: '00:00:00.250', end_time: '00:00:01.000', text: 'good morning' },
    { start_time: '00:00:02.500', end_time: '00:00:03.000', text: 'how are you' },
  ],
  vttContent: 'WEBVTT\n\n00:00:00.250 --> 00:00:01.000\ngood morning\n\n00:00:02.500 --> 00:00:03.000\nhow are you\n',
  languages: ['eng'],
};
const MODERATION = { task_name: 'content-moderation', category: 'nsfw' };
const FINDINGS = {
  nsfw_detected: true,
  detection_results: ['nsfw'],
  frames: [
    { label: 'nsfw', frame_number: 0, confidence: 0.31 },
    { label: 'nsfw', frame_number: 25, confidence: 0.72 },
    { label: 'nsfw', frame_number: 50, confidence: 0.94 },
  ],
};

/** 48 frames in one colour each, which says their number: red, green and blue are its digits to the base of 4. */
const FILM = path.join(import.meta.dirname, 'frames.webm');
const FRAMES = 48;
const RATE = 24_000 / 1_001;
/** Findings in all frames of the film, in an order that is not theirs; one has two. */
const SUREST_FIRST = Array.from({ length: FRAMES }, (_, place) => (place * 29 + 17) % FRAMES);
const IN_FILM = {
  nsfw_detected: true,
  detection_results: ['nsfw'],
  frames: [
    ...SUREST_FIRST.map((frame_number, place) => ({ label: 'nsfw', frame_number, confidence: 0.99 - place / 100 })),
    { label: 'sport', frame_number: SUREST_FIRST[1], confidence: 0.6 },
  ].toSorted((one, other) => Number(one.frame_number) - Number(other.frame_number)),
};

describeInBrowser('AI tasks in the console', () => {
  const browser = setUpBrowser({ TRADEWIND_MEDIA_ALLOW_HOSTS: '127.0.0.1' });
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'console-media-'));
  let media: MediaServer;
  const url = 'https://example.com/film.mp4';
  let ready = false;

  beforeAll(async () => {
    const file = path.join(folder, 'film.wav');
    fs.writeFileSync(file, silence(4));
    media = await startMediaServer({
      '/film.wav': file,
      '/frames.webm': FILM,
      // A part, and never the rest.
      '/slow.wav': (_, response) => response.setHeader('content-length', 10_000_000).write(Buffer.alloc(2_500_000)),
      '/large.wav': (_, response) => response.setHeader('content-length', 500_000_001).write('a'),
    });
  });
  afterAll(() => {
    media?.close();
    fs.rmSync(folder, { recursive: true });
  });

  async function make(body: object): Promise<string> {
    const { http } = browser.service;
    if (!ready) await activateAiFeatures(http, 1);
    ready = true;
    return createAiTask(http, { url, ...body });
  }
  const makeTranscription = (more: object = {}) => make({ task_name: 'transcription', ...more });
  /** Ends a task as an engine would. */
  const finish = (id: string, result: object, rate?: number) => finishAiTask(browser.service.pool, id, result, rate);

  it('keeps filters, order and page in the address, so that reload and back show the same', {
    timeout: LONG,
  }, async () => {
    for (let index = 0; index < 12; index += 1) await makeTranscription({ client_user_id: `pupil ${index}` });
    await make(MODERATION);
    const { page, open } = await browser.visit();
    await open('ai-tasks');
    await page.getByText('13 in all').waitFor();
    await page.getByLabel('On a page').selectOption('10');
    await page.getByRole('combobox', { name: 'Task' }).selectOption('transcription');
    await page.getByLabel('Status').selectOption('PENDING');
    await page.getByLabel('Order').selectOption('task_id');
    await page.getByLabel('Search').fill('pupil');
    const day = new Date().toISOString().slice(0, 10);
    await page.getByLabel('Created (UTC)').fill(day);
    await page.waitForURL(/date_created/);
    await page.getByText('Page 1 of 2').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    const asked = Object.fromEntries(new URL(page.url()).searchParams);
    expect(asked).toEqual({
      limit: '10',
      task_name: 'transcription',
      status: 'PENDING',
      ordering: 'task_id',
      search: 'pupil',
      date_created: day,
      page: '2',
    });
    const rows = async () => {
      await page.getByText('Page 2 of 2').waitFor();
      return page.getByRole('row').allTextContents();
    };
    const shown = await rows();
    const listed = await browser.service.http.get(`/streaming/ai/tasks?${new URLSearchParams(asked)}`);
    const ids = listed.body.results.map(({ task_id }: { task_id: string }) => task_id);
    expect(ids).toHaveLength(2);
    expect(shown.slice(1).map((row) => ids.find((id: string) => row.includes(id)))).toEqual(ids);

    await page.reload();
    expect(await rows()).toEqual(shown);
    await page.getByRole('link', { name: 'transcription' }).first().click();
    await page.getByRole('heading', { name: 'transcription', level: 1 }).waitFor();
    await page.goBack();
    expect(await rows()).toEqual(shown);
    expect(await page.getByLabel('Order').inputValue()).toBe('task_id');
  });

  it('plays a copy of the file from where a phrase was said, with its subtitles', async () => {
    const id = await makeTranscription();
    await finish(id, TRANSCRIPT);
    const { page, open } = await browser.visit();
    await open(`ai-tasks/${id}`);
    const phrase = page.getByRole('button', { name: 'Play from 00:00:02.500' });
    expect(await phrase.isDisabled()).toBe(true);
    await page.getByText('It can fetch the file from example.com').waitFor();
    await page
      .getByLabel('Your copy of the file')
      .setInputFiles({ name: 'film.wav', mimeType: 'audio/wav', buffer: silence(4) });
    const player = page.getByLabel('The file with its subtitles');
    await isPlayable(page);
    await phrase.click();
    expect(await property(page, 'currentTime')).toBe(2.5);
    expect(await page.getByRole('listitem').filter({ hasText: 'how are you' }).getAttribute('aria-current')).toBe(
      'time',
    );
    await expect
      .poll(() =>
        player.evaluate(
          (video) => (video as unknown as { textTracks: { cues: unknown[] }[] }).textTracks[0]?.cues.length,
        ),
      )
      .toBe(2);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the subtitles' }).click();
    expect((await saved).suggestedFilename()).toBe(`${id}.vtt`);
  });

  it('plays the file that the server fetches from where a word was said, by mouse and keys', async () => {
    const id = await makeTranscription({ url: media.at('/film.wav') });
    await finish(id, TRANSCRIPT);
    const { page, open } = await browser.visit();
    await open(`ai-tasks/${id}`);
    await page.getByRole('button', { name: 'Fetch the file' }).click();
    await isPlayable(page);
    await page.getByRole('button', { name: 'you', exact: true }).click();
    expect(await property(page, 'currentTime')).toBeCloseTo(2.5 + (2 * 0.5) / 3, 3);
    const phrase = page.getByRole('listitem').filter({ hasText: 'how are you' });
    expect(await phrase.getAttribute('aria-current')).toBe('time');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    expect(await property(page, 'currentTime')).toBeCloseTo(2.5 + 0.5 / 3, 3);
    await page.keyboard.press('Home');
    expect(await phrase.getByRole('button', { name: 'Play from' }).evaluate((one) => one.matches(':focus'))).toBe(true);
    expect(await page.locator('.phrases button[tabindex="0"]').count()).toBe(TRANSCRIPT.subtitles.length);
  });

  it('says how much of a file has come, stops, and says why one can’t be had', async () => {
    browser.expectFaults(/status of 422/);
    const open = async (file: string) => {
      const id = await makeTranscription({ url: media.at(file) });
      await finish(id, TRANSCRIPT);
      const visit = await browser.visit();
      await visit.open(`ai-tasks/${id}`);
      await visit.page.getByRole('button', { name: 'Fetch the file' }).click();
      return visit.page;
    };
    const slow = await open('/slow.wav');
    await slow.getByText('2.5 of 10.0 MB').waitFor();
    expect(await accessibilityFaults(slow)).toEqual([]);
    await slow.getByRole('button', { name: 'Stop' }).click();
    await slow.getByRole('button', { name: 'Fetch the file' }).waitFor();
    expect(await slow.getByRole('alert').count()).toBe(0);
    const large = await open('/large.wav');
    await large.getByRole('alert').filter({ hasText: 'larger than 500 MB' }).waitFor();
    const gone = await open('/gone.wav');
    await gone.getByRole('alert').filter({ hasText: 'answered HTTP 404 instead of the file' }).waitFor();
    await gone.getByText('choose it instead').waitFor();
  });

  it('counts the findings that a threshold leaves', async () => {
    const id = await make(MODERATION);
    await finish(id, FINDINGS);
    const { page, open } = await browser.visit();
    await open(`ai-tasks/${id}`);
    await page.getByText('2 of 3 findings are at 50 % or more.').waitFor();
    await page.getByRole('slider', { name: 'Threshold' }).fill('90');
    await page.getByText('1 of 3 findings are at 90 % or more.').waitFor();
    expect(await page.getByRole('row').allTextContents()).toEqual(['FrameWhatHow sure', '50nsfw94 %']);
  });

  it('shows the frames of the findings as pictures, blurred at first and the surest first', async () => {
    const id = await make({ ...MODERATION, url: media.at('/frames.webm') });
    await finish(id, IN_FILM, RATE);
    const { page, open } = await browser.visit();
    await open(`ai-tasks/${id}`);
    await page.getByRole('row').filter({ hasText: 'nsfw' }).first().waitFor();
    await page.getByRole('button', { name: 'Fetch the file' }).click();
    await areDrawn(page, 12);
    expect(await page.getByRole('table').count()).toBe(0);
    expect(await numbersInPictures(page)).toEqual(SUREST_FIRST.slice(0, 12));
    const [surest = 0, second] = SUREST_FIRST;
    await page.getByRole('img', { name: `Frame ${surest} at 00:00: nsfw 99 %`, exact: true }).waitFor();
    await page.getByRole('img', { name: `Frame ${second} at 00:01: nsfw 98 %, sport 60 %`, exact: true }).waitFor();

    expect(await filterIn(page, '.pictures')).toContain('blur');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Blur the pictures' }).uncheck();
    expect(await filterIn(page, '.pictures')).toBe('none');

    const more = page.getByRole('button', { name: 'Show more' });
    for (const count of [24, 36, 48]) {
      await more.press('Enter');
      await areDrawn(page, count);
      expect(
        await page
          .locator('.pictures button')
          .nth(count - 12)
          .evaluate((one) => one.matches(':focus')),
      ).toBe(true);
    }
    expect(await more.count()).toBe(0);
    expect(await numbersInPictures(page)).toEqual(SUREST_FIRST);
    await page.getByRole('slider', { name: 'Threshold' }).fill('95');
    await page.getByText('5 of 5 frames').waitFor();
    expect(await numbersInPictures(page)).toEqual(SUREST_FIRST.slice(0, 5));
  });

  it('opens a picture by keyboard, and gives the focus back', async () => {
    const id = await make(MODERATION);
    await finish(id, IN_FILM, RATE);
    const { page, open } = await browser.visit();
    await open(`ai-tasks/${id}`);
    await page.getByLabel('Your copy of the file').setInputFiles(FILM);
    await areDrawn(page, 12);
    const third = page.locator('.pictures button').nth(2);
    await third.press('Enter');
    const drawer = page.getByRole('dialog', { name: `Frame ${SUREST_FIRST[2]} at 00:01` });
    await drawer.getByRole('img').waitFor();
    expect(await filterIn(page, '.drawer')).toContain('blur');
    expect(await accessibilityFaults(page)).toEqual([]);
    await drawer.getByRole('checkbox', { name: 'Blur the pictures' }).press('Space');
    expect(await filterIn(page, '.drawer')).toBe('none');
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(await third.evaluate((one) => one.matches(':focus'))).toBe(true);
  });

  it('shows a still picture too, and says what can’t be shown', async () => {
    const still = { ...FINDINGS, frames: [{ label: 'nsfw', frame_number: 0, confidence: 0.9 }] };
    const [judged, old] = [await make(MODERATION), await make(MODERATION)];
    await finish(judged, still, 1);
    await finish(old, still);
    const { page, open } = await browser.visit();
    await open(`ai-tasks/${judged}`);
    const copy = page.getByLabel('Your copy of the file');
    await copy.setInputFiles({ name: 'sound.wav', mimeType: 'audio/wav', buffer: silence(1) });
    await page.getByRole('alert').filter({ hasText: 'This browser can’t play the file.' }).waitFor();
    expect(await page.getByRole('row').allTextContents()).toEqual(['FrameAtWhatHow sure', '000:00nsfw90 %']);
    await page.getByRole('slider', { name: 'Threshold' }).fill('91');
    await page.getByText('Nothing is at or above the threshold.').waitFor();
    await copy.setInputFiles({ name: 'sound.wav', mimeType: 'audio/wav', buffer: silence(2) });
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByRole('slider', { name: 'Threshold' }).fill('90');
    await page.getByRole('alert').waitFor();
    await copy.setInputFiles({ name: 'still', mimeType: '', buffer: await page.screenshot() });
    await areDrawn(page, 1);
    expect(await page.getByRole('alert').count()).toBe(0);
    await open(`ai-tasks/${old}`);
    await page.getByText('the rate of the film was not kept').waitFor();
    expect(await copy.count()).toBe(0);
  });

  it('makes a task from the document’s form, says what is wrong with a field, and cancels it', async () => {
    await makeTranscription();
    const { page, open } = await browser.visit();
    browser.expectFaults(/status of 400/);
    await open('ai-tasks/new');
    await page.getByRole('combobox', { name: 'Task' }).selectOption('content-moderation: nsfw');
    await page.getByRole('status').filter({ hasText: 'It takes ffmpeg and the packages of the engines' }).waitFor();
    await page.getByRole('combobox', { name: 'Task' }).selectOption('transcription');
    await page.getByLabel('Spoken language').selectOption({ label: 'German' });
    expect(await page.getByLabel('Spoken language').inputValue()).toBe('ger');
    await page.getByRole('status').filter({ hasText: 'No engine for this is running now' }).waitFor();
    expect(await page.getByText('No engine here').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Task' }).selectOption('content-moderation: nsfw');
    await page.getByLabel('Address of the file').fill('nowhere');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('alert').filter({ hasText: 'Must be the address of a file' }).waitFor();
    await page.getByLabel('Address of the file').fill(url);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'content-moderation: nsfw', level: 1 }).waitFor();
    // This server has no engine at work.
    await page.getByRole('status').filter({ hasText: 'npx tradewind doctor' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('REVOKED').waitFor();
  });

  it('tries a failed task again with the same data', async () => {
    const failed = await makeTranscription({ audio_language: 'ger', client_user_id: 'pupil of the failed task' });
    await finish(failed, { error: 'The film is gone' });
    await browser.service.pool.query("update ai_tasks set status = 'FAILURE' where id = $1", [failed]);
    const { page, open } = await browser.visit();
    await open(`ai-tasks/${failed}`);
    await page.getByRole('alert').filter({ hasText: 'The film is gone' }).waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
    await page.waitForURL((now) => !now.pathname.endsWith(failed));
    const next = new URL(page.url()).pathname.split('/').at(-1);
    const { http } = browser.service;
    const dataOf = async (id?: string) => (await http.get(`/streaming/ai/tasks/${id}`)).body.task_data;
    expect(await dataOf(next)).toEqual(await dataOf(failed));
  });

  it('is accessible with each kind of result', { timeout: LONG }, async () => {
    const spoken = await makeTranscription();
    const judged = await make(MODERATION);
    const waiting = await makeTranscription();
    await finish(spoken, TRANSCRIPT);
    await finish(judged, FINDINGS);
    const { page, open } = await browser.visit();
    const faults: string[] = [];
    const look = async (what: string) => {
      await page.getByText('Reading …').first().waitFor({ state: 'detached' });
      faults.push(...(await accessibilityFaults(page)).map((fault) => `${what}, ${fault}`));
    };
    for (const task of [judged, waiting]) {
      await open(`ai-tasks/${task}`);
      await look(task);
    }
    await open(`ai-tasks/${spoken}`);
    await page
      .getByLabel('Your copy of the file')
      .setInputFiles({ name: 'film.wav', mimeType: 'audio/wav', buffer: silence(4) });
    await page.getByLabel('The file with its subtitles').waitFor();
    await look('player');
    expect(faults).toEqual([]);
  });
});

/** Of the first picture within. */
const filterIn = (page: Page, within: string) =>
  page.evaluate<string>(`getComputedStyle(document.querySelector('${within} img')).filter`);
const areDrawn = (page: Page, count: number) => expect.poll(() => page.locator('.pictures img').count()).toBe(count);

/** Which frames of the film the pictures show, by their colours. */
const numbersInPictures = (page: Page) =>
  page.evaluate<number[]>(`Promise.all([...document.querySelectorAll('.pictures img')].map(async (image) => {
    await image.decode();
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas.drawImage(image, 0, 0, 1, 1);
    const colour = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    return colour.reduce((sum, level) => sum * 4 + Math.floor(level / 64), 0);
  }))`);

const property = (page: Page, name: string) =>
  page.getByLabel('The file with its subtitles').evaluate((video, given) => Reflect.get(video, given) as number, name);
const isPlayable = (page: Page) => expect.poll(() => property(page, 'readyState')).toBeGreaterThan(0);

/** A sound file without a sound: 8,000 samples a second, one byte each. */
function silence(seconds: number): Buffer {
  const samples = Buffer.alloc(seconds * 8_000, 128);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
