import { describe, expect, it } from 'vitest';
import type { Query } from '../query.ts';
import { refusal, type Walk } from '../walk.ts';

interface AiTask {
  task_id: string;
}

export function describeAiTasks({ client }: Walk): void {
  describe('AI tasks', () => {
    const TASKS = '/streaming/ai/tasks';
    const made: string[] = [];

    it('asks what is supported', async () => {
      const asked = { type: 'language_support', audio_language: 'ger', subtitles_language: 'eng' };
      expect(await client.get('/streaming/ai/info', asked)).toEqual({ supported: expect.any(Boolean) });
    });

    it('creates some of both kinds', async () => {
      const url = 'https://media.example.com/walk.mp4';
      for (const body of [
        { task_name: 'transcription', url, audio_language: null, client_user_id: 'walker' },
        { task_name: 'transcription', url, subtitles_language: 'eng' },
        { task_name: 'content-moderation', category: 'nsfw', url, client_entity_data: undefined },
      ]) {
        made.push((await client.post<AiTask>(TASKS, body)).task_id);
      }
    });

    it('lists page after page until an empty one, with filters', async () => {
      const ids = async (query: Query) =>
        (await client.allPages<AiTask>(TASKS, query)).map(({ task_id }) => task_id);
      expect((await ids({ limit: 1 })).sort()).toEqual([...made].sort());
      expect(await ids({ limit: 2, ordering: 'task_id' })).toEqual([...made].sort());
      expect(await ids({ task_name: 'content-moderation' })).toEqual(made.slice(2));
      expect(await ids({ search: 'walker', limit: 1 })).toEqual(made.slice(0, 1));
      expect(await client.get(TASKS, { page: 1000 })).toMatchObject({ count: 3, results: [] });
    });

    it('reads one, and cancels it once', async () => {
      const [id] = made;
      expect(await client.get(`${TASKS}/${id}`)).toMatchObject({
        task_id: id,
        task_data: { client_user_id: 'walker' },
      });
      await client.post(`${TASKS}/${id}/cancel`);
      expect(await client.get(`${TASKS}/${id}`)).toMatchObject({ status: 'REVOKED' });
      await expect(client.post(`${TASKS}/${id}/cancel`)).rejects.toMatchObject(refusal(412));
    });
  });
}
