import { measureLists } from './lists.ts';
import { measurePipeline } from './pipeline.ts';

/** Compares AI tasks with the bare engines, and the list of very many tasks with that of a few. */
export async function measureAi({ quick, only }: { quick: boolean; only?: string }): Promise<string> {
  const parts = [
    { name: 'pipeline', measure: measurePipeline },
    { name: 'lists', measure: measureLists },
  ].filter(({ name }) => only === undefined || name.includes(only));
  const reports: string[] = [];
  for (const { measure } of parts) reports.push(await measure({ quick }));
  return reports.join('\n\n');
}
