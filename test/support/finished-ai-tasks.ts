import type pg from 'pg';

/** Ends an AI task as an engine would, so that tests that only need its result need no engine. */
export async function finishAiTask(
  database: { query: (text: string, values: unknown[]) => Promise<pg.QueryResult> },
  taskId: string,
  result: object = { vttContent: 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHi\n' },
  frameRate: number | null = null,
): Promise<void> {
  await database.query(
    `update ai_tasks set status = 'SUCCESS', progress = 100, started_at = now(), completed_at = now(), result = $2,
       frame_rate = $3 where id = $1`,
    [taskId, JSON.stringify(result), frameRate],
  );
}
