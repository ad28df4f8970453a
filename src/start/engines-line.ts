import type { Config } from '../config.ts';
import { capabilitiesOf, takeInventory } from '../engines/inventory.ts';
import { CATEGORIES } from '../engines/job.ts';
import { engineSettings } from './ai-worker.ts';

/**
 * Returns one line about the AI tasks that this process can do. Never fails: Tradewind runs without engines.
 */
export async function enginesLine(config: Config): Promise<string> {
  if (config.ai.concurrency === 0) return '';
  try {
    const { transcription, categories } = capabilitiesOf(await takeInventory(engineSettings(config)));
    const able = [
      ...(transcription ? [`transcription (${transcription.languages.join(', ')})`] : []),
      ...categories,
    ];
    const unable = [
      ...(transcription ? [] : ['transcription']),
      ...CATEGORIES.filter((category) => !categories.includes(category)),
    ];
    const missing =
      unable.length === 0 ? '' : `; not installed: ${unable.join(', ')} ("npx tradewind doctor" says why)`;
    return `AI tasks: ${able.join(', ') || 'none'}${missing}\n`;
  } catch {
    // The start of the engines reports the error.
    return '';
  }
}
