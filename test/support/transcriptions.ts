import type pg from 'pg';

/** Ends a transcription as an engine would, so that tests that only need its result need no engine. */
export async function finishTranscription(
  database: { query: (text: string, values: unknown[]) => Promise<pg.QueryResult> },
  taskId: string,
): Promise<void> {
  await database.query(
    `update ai_tasks set status = 'SUCCESS', progress = 100, started_at = now(), completed_at = now(),
       result = '{"vttContent": "WEBVTT\\n\\n00:00:00.000 --> 00:00:01.000\\nHi\\n"}' where id = $1`,
    [taskId],
  );
}
